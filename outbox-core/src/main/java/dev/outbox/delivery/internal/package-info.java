/**
 * What other modules share with the poller: purging in small batches, wake-ups within one process, and telling listeners.
 * Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.delivery.internal;

import org.jspecify.annotations.NullMarked;
