/**
 * Creates and upgrades the tables that the library needs, with plain SQL: start at {@link
 * dev.outbox.migrations.OutboxMigrations}.
 */
@NullMarked
package dev.outbox.migrations;

import org.jspecify.annotations.NullMarked;
