/** The Flyway location of phase 2, which goes to claims by the new columns, after the backfill. */
@NullMarked
package dev.outbox.migrations.upgrade.phase2;

import org.jspecify.annotations.NullMarked;
