/** The Flyway location of phase 4, which goes to the canonical table. */
@NullMarked
package dev.outbox.migrations.upgrade.phase4;

import org.jspecify.annotations.NullMarked;
