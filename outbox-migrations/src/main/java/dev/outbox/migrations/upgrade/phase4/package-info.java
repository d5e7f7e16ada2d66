/** The Flyway location of phase 4, which drops the old columns and leaves the canonical table. */
@NullMarked
package dev.outbox.migrations.upgrade.phase4;

import org.jspecify.annotations.NullMarked;
