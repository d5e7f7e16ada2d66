/** The tables of the field as they were before this library, and an application that knows nothing else. */
@NullMarked
package dev.outbox.evolution;

import org.jspecify.annotations.NullMarked;
