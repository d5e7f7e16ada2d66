/** The Flyway location of phase 3, which goes to writes of the new columns only. */
@NullMarked
package dev.outbox.migrations.upgrade.phase3;

import org.jspecify.annotations.NullMarked;
