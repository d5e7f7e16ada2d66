/** The Flyway location of phase 3, from which on only the new columns count. */
@NullMarked
package dev.outbox.migrations.upgrade.phase3;

import org.jspecify.annotations.NullMarked;
