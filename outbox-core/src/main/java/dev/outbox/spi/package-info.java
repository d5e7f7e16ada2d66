/** What a place that holds work items has to implement: {@link dev.outbox.spi.Source} and its values. */
@NullMarked
package dev.outbox.spi;

import org.jspecify.annotations.NullMarked;
