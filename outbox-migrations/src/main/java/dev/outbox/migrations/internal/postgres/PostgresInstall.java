package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallDialect;
import dev.outbox.migrations.internal.InstallScript;
import java.util.List;

final class PostgresInstall implements InstallDialect {
    static final String FOLDER = "postgres";

    @Override
    public String render(InstallScript script, TableName table) {
        return script.text(FOLDER)
                .replace("\"" + script.placeholder() + "\"", Quoted.postgres(table))
                .replace(script.placeholder(), table.name());
    }

    @Override
    public String serialize() {
        return "SELECT pg_advisory_xact_lock(1870034018, 1768846196)";
    }

    @Override
    public List<String> lookupSuffixes() {
        return List.of("_by_key", "_by_related", "_by_tenant");
    }

    /** Of 63 characters, less the longest suffix. */
    @Override
    public int longestName() {
        return 63 - "_one_payload".length();
    }
}
