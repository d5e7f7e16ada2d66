/**
 * Outbox for Java: messages are stored in the caller's own transaction and delivered by a poller.
 *
 * <p>This package stores and receives: {@link dev.outbox.Outbox} and {@link dev.outbox.Message} on one side, {@link
 * dev.outbox.Inbox} and {@link dev.outbox.Incoming} on the other. {@link dev.outbox.delivery} delivers what is stored.
 * {@link dev.outbox.spi} has the interfaces that a database implements, and {@link dev.outbox.event} the events that
 * listeners receive.
 */
@NullMarked
package dev.outbox;

import org.jspecify.annotations.NullMarked;
