package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.InstallDialect;
import dev.outbox.migrations.internal.InstallScript;
import dev.outbox.migrations.internal.Literal;
import java.util.List;

final class SqlServerInstall implements InstallDialect {
    static final String FOLDER = "sqlserver";

    @Override
    public String render(InstallScript script, TableName table) {
        String schema = table.schema();
        String placeholder = script.placeholder();
        String text = script.text(FOLDER)
                .replace(
                        "OBJECT_ID(N'[" + placeholder + "]')",
                        "OBJECT_ID(" + Literal.national(Quoted.sqlServer(table)) + ")")
                .replace("[" + placeholder + "]", Quoted.sqlServer(table));
        if (schema != null) {
            text = text.replace("\"" + placeholder, "\"" + schema.replace("\"", "\"\"") + "\".\"" + placeholder)
                    .replace("SCHEMA_NAME()", Literal.national(schema));
        }
        return text.replace(placeholder, table.name());
    }

    /** Reading opens the transaction that the driver has only announced, and that the lock needs. */
    @Override
    public String serialize() {
        return """
                DECLARE @code int, @objects int;
                SELECT @objects = COUNT(*) FROM sys.objects WHERE object_id = 0;
                EXEC @code = sp_getapplock @Resource = N'dev.outbox:install', @LockMode = N'Exclusive',
                    @LockOwner = N'Transaction', @LockTimeout = 60000;
                IF @code < 0
                BEGIN;
                    THROW 50000, N'another node that installs tables took too long', 1;
                END;
                """;
    }

    @Override
    public List<String> lookupSuffixes() {
        return List.of("_ByKey", "_ByRelated", "_ByTenant");
    }

    /** Of the 63 characters of a name, less the longest suffix. */
    @Override
    public int longestName() {
        return 63 - "_sequence".length();
    }
}
