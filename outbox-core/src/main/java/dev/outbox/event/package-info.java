/** The events that report to a listener what happens to work items. Metrics are built on them. */
@NullMarked
package dev.outbox.event;

import org.jspecify.annotations.NullMarked;
