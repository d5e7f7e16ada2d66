/** The tables this library needs, as plain SQL: start at {@link dev.outbox.migrations.OutboxMigrations}. */
@NullMarked
package dev.outbox.migrations;

import org.jspecify.annotations.NullMarked;
