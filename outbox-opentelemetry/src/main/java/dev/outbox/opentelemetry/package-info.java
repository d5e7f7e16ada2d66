/** Traces from the transaction that enqueues to the delivery. */
@NullMarked
package dev.outbox.opentelemetry;

import org.jspecify.annotations.NullMarked;
