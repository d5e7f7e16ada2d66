/** Events: what happens to work items, as a listener is told. Metrics and tracing are built on them. */
@NullMarked
package dev.outbox.event;

import org.jspecify.annotations.NullMarked;
