/** The Flyway location of phase 1, which goes from the legacy layout to both. */
@NullMarked
package dev.outbox.migrations.upgrade.phase1;

import org.jspecify.annotations.NullMarked;
