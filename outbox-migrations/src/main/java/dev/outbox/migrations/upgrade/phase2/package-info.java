/** The Flyway location of phase 2, from which claims use the new columns; it follows the backfill. */
@NullMarked
package dev.outbox.migrations.upgrade.phase2;

import org.jspecify.annotations.NullMarked;
