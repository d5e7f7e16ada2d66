/**
 * Outbox for Java: messages are stored in the caller's own transaction and delivered by a poller.
 *
 * <p>Start at {@link dev.outbox.Outbox}, {@link dev.outbox.Message}, {@link dev.outbox.Destination}
 * and {@link dev.outbox.Poller}. What a database or a broker has to implement is in
 * {@link dev.outbox.spi}; what happened is told through {@link dev.outbox.event}.
 */
@NullMarked
package dev.outbox;

import org.jspecify.annotations.NullMarked;
