/** The Flyway location of phase 1, which adds the new columns beside the old ones. */
@NullMarked
package dev.outbox.migrations.upgrade.phase1;

import org.jspecify.annotations.NullMarked;
