/**
 * The Flyway location of the step between phases 3 and 4 in which columns get their canonical names, for the tables that
 * need it.
 */
@NullMarked
package dev.outbox.migrations.upgrade.renaming;

import org.jspecify.annotations.NullMarked;
