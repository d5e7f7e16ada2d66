package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.migrations.internal.InstallDialect;
import dev.outbox.migrations.internal.MigrationDialect;
import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.TableUpgrade;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The migrations of SQL Server. */
public final class SqlServerMigrations implements MigrationDialect {
    @Override
    public InstallDialect install() {
        return new SqlServerInstall();
    }

    @Override
    public ScriptDialect scripts() {
        return new SqlServerScripts();
    }

    @Override
    public TableUpgrade upgrade(
            Connection connection, FoundTable found, @Nullable String consumer, UpgradeOptions options)
            throws SQLException {
        return new SqlServerUpgrade(connection, LegacyTable.of(connection, found, consumer), options);
    }
}
