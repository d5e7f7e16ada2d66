/** The Flyway location of phase 3, from which the library writes only the new columns. */
@NullMarked
package dev.outbox.migrations.upgrade.phase3;

import org.jspecify.annotations.NullMarked;
