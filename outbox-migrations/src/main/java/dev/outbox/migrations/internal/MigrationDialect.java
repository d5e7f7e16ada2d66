package dev.outbox.migrations.internal;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Catalog;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.postgres.PostgresMigrations;
import dev.outbox.migrations.internal.sqlserver.SqlServerMigrations;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What the migrations need of a database: how its tables are installed, and how a legacy table of it is upgraded. */
public interface MigrationDialect {
    static MigrationDialect of(Database database) {
        return switch (database) {
            case POSTGRES -> new PostgresMigrations();
            case SQLSERVER -> new SqlServerMigrations();
        };
    }

    InstallDialect install();

    ScriptDialect scripts();

    /**
     * The upgrade of a table, as it was found.
     *
     * @param consumer whose the rows of a legacy inbox are; null for an outbox
     */
    TableUpgrade upgrade(Connection connection, FoundTable found, @Nullable String consumer, UpgradeOptions options)
            throws SQLException;

    /**
     * The upgrade of the table of this name, as it is now.
     *
     * @param kind what the table is, if it does not say so itself
     * @throws OutboxException if there is no such table, or it is of the other kind
     */
    static TableUpgrade upgrade(
            Connection connection, TableName name, TableKind kind, @Nullable String consumer, UpgradeOptions options)
            throws SQLException {
        Database database = Database.of(connection);
        FoundTable found = Catalog.of(database)
                .find(connection, name)
                .orElseThrow(
                        () -> new OutboxException("table \"" + name + "\" not found; write schema.table if it is in a"
                                + " schema that the database does not search by default, or install it with"
                                + " OutboxMigrations.install(...)"));
        if (found.marked()) {
            found.requireKind(kind, "use Upgrade." + found.kind() + "(...)");
        }
        return of(database).upgrade(connection, found.as(kind), consumer, options);
    }
}
