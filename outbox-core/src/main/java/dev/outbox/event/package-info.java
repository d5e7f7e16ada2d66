/** What happens to work items, told to a listener: the base of metrics and tracing. */
@NullMarked
package dev.outbox.event;

import org.jspecify.annotations.NullMarked;
