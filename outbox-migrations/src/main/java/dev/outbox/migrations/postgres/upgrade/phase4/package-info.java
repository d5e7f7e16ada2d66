/** The Flyway location of phase 4, which goes to the canonical table. */
@NullMarked
package dev.outbox.migrations.postgres.upgrade.phase4;

import org.jspecify.annotations.NullMarked;
