/** The interfaces that a place which holds work items implements: {@link dev.outbox.spi.Source} and its values. */
@NullMarked
package dev.outbox.spi;

import org.jspecify.annotations.NullMarked;
