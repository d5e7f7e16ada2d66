/**
 * Code that other modules share with the poller: purging in small batches, wake-ups within one process, and the delivery
 * of events to listeners. Not API: anything here may change in any release.
 */
@NullMarked
package dev.outbox.delivery.internal;

import org.jspecify.annotations.NullMarked;
