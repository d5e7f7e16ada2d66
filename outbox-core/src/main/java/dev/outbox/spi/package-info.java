/** The interfaces to implement for a place that holds work items: {@link dev.outbox.spi.Source} and its values. */
@NullMarked
package dev.outbox.spi;

import org.jspecify.annotations.NullMarked;
