package dev.outbox.cli;

import dev.outbox.admin.Box;
import dev.outbox.migrations.OutboxMigrations;
import javax.sql.DataSource;

/**
 * A table that a migration command is about, whether it exists or not.
 *
 * @param name {@code name} or {@code schema.name}
 */
record MigratedTable(Box box, String name, boolean exists) {
    static MigratedTable of(DataSource dataSource, Box box, String name) {
        return new MigratedTable(box, name, OutboxMigrations.isInstalled(dataSource, name));
    }
}
