package dev.outbox.cli;

import dev.outbox.admin.Box;
import dev.outbox.migrations.OutboxMigrations;
import javax.sql.DataSource;

/**
 * A table that migrations are about, there or not.
 *
 * @param name {@code name} or {@code schema.name}
 */
record MigratedTable(Box box, String name, boolean exists) {
    static MigratedTable of(DataSource dataSource, Box box, String name) {
        return new MigratedTable(box, name, OutboxMigrations.isInstalled(dataSource, name));
    }
}
