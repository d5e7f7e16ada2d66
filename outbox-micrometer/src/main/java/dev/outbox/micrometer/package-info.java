/** Reports what happens to work items as Micrometer meters. */
@NullMarked
package dev.outbox.micrometer;

import org.jspecify.annotations.NullMarked;
