package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.migrations.internal.InstallDialect;
import dev.outbox.migrations.internal.MigrationDialect;
import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.TableUpgrade;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import org.jspecify.annotations.Nullable;

/** The migrations of PostgreSQL. */
public final class PostgresMigrations implements MigrationDialect {
    @Override
    public InstallDialect install() {
        return new PostgresInstall();
    }

    @Override
    public ScriptDialect scripts() {
        return new PostgresScripts();
    }

    @Override
    public TableUpgrade upgrade(
            Connection connection, FoundTable found, @Nullable String consumer, UpgradeOptions options) {
        return new PostgresUpgrade(connection, LegacyTable.of(found), consumer, options);
    }
}
