package dev.outbox.cli;

import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import javax.sql.DataSource;

/**
 * A table that a migration command is about, whether it exists or not.
 *
 * @param name {@code name} or {@code schema.name}
 */
record MigratedTable(TableKind kind, String name, boolean exists) {
    static MigratedTable of(DataSource dataSource, TableKind kind, String name) {
        return new MigratedTable(kind, name, OutboxMigrations.isInstalled(dataSource, name));
    }
}
