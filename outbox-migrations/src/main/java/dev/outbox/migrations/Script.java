package dev.outbox.migrations;

import dev.outbox.internal.Require;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/** A script of one database, and how it is made to create a certain table. */
abstract class Script {
    /** What the script makes. */
    enum Kind {
        OUTBOX("install/V1__outbox.sql", "${outbox_table}"),
        INBOX("inbox/V1__inbox.sql", "${inbox_table}"),
        AUDIT("admin/V1__audit.sql", "outbox_audit"),
        POLLERS("admin/V2__pollers.sql", "outbox_pollers"),
        LOOKUP("lookup/V1__lookup.sql", "${outbox_table}");

        private final String resource;
        private final String placeholder;

        /** @param placeholder what stands for the table's name: a table that has only one name is called by it */
        Kind(String resource, String placeholder) {
            this.resource = resource;
            this.placeholder = placeholder;
        }
    }

    private final String folder;
    private final Kind kind;

    private Script(String folder, Kind kind) {
        this.folder = folder;
        this.kind = kind;
    }

    static Script of(Database database, Kind kind) {
        return switch (database) {
            case POSTGRES -> new Postgres(kind);
            case SQLSERVER -> new SqlServer(kind);
        };
    }

    /** Puts the names of this table into the text. */
    abstract String rendered(String text, String placeholder, TableName name);

    /** Waits for other nodes that install. */
    abstract String serialize();

    /** Whether there is a table of this quoted name, its one parameter: 1 or 0. */
    abstract String exists();

    /** Whether a table, quoted, has an index of this name, its two parameters: 1 or 0. */
    abstract String indexExists();

    /** The names of the lookup indexes, after that of their table. */
    abstract List<String> lookupSuffixes();

    /** The longest name of a table whose indexes and constraints can be named after it. */
    abstract int longestName();

    abstract String quote(TableName name);

    TableName name(String table) {
        TableName name = TableName.parse(Require.present("table", table));
        if (name.name().length() > longestName()) {
            throw new IllegalArgumentException("table must have at most " + longestName()
                    + " characters, so that its indexes can be named after it, was \"" + name.name() + "\"");
        }
        return name;
    }

    /** In a transaction: nodes that start together install one after the other. */
    boolean exists(Connection connection, TableName name) throws SQLException {
        try (Statement alone = connection.createStatement()) {
            alone.execute(serialize());
        }
        return isThere(connection, name);
    }

    /** Whether there is such a table at this moment; locks nothing. */
    boolean isThere(Connection connection, TableName name) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(exists())) {
            exists.setString(1, quote(name));
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getInt(1) == 1;
            }
        }
    }

    /** The lookup indexes that this table has not; locks nothing. */
    List<String> missingLookup(Connection connection, TableName name) throws SQLException {
        List<String> missing = new ArrayList<>();
        try (PreparedStatement exists = connection.prepareStatement(indexExists())) {
            for (String suffix : lookupSuffixes()) {
                exists.setString(1, quote(name));
                exists.setString(2, name.name() + suffix);
                try (ResultSet row = exists.executeQuery()) {
                    row.next();
                    if (row.getInt(1) == 0) {
                        missing.add(name.name() + suffix);
                    }
                }
            }
        }
        return List.copyOf(missing);
    }

    String render(TableName name) {
        return rendered(text(), kind.placeholder, name);
    }

    /** The script as it is in the jar, with {@code TABLE} for the placeholder. */
    String template() {
        return text().replace(kind.placeholder, "TABLE");
    }

    private String text() {
        return text(folder + "/" + kind.resource);
    }

    static String text(String resource) {
        try (InputStream text = Script.class.getResourceAsStream(resource)) {
            return new String(Require.present(resource, text).readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Postgres extends Script {
        Postgres(Kind kind) {
            super("postgres", kind);
        }

        @Override
        String rendered(String text, String placeholder, TableName name) {
            return text.replace("\"" + placeholder + "\"", quote(name)).replace(placeholder, name.name());
        }

        @Override
        String serialize() {
            return "SELECT pg_advisory_xact_lock(1870034018, 1768846196)";
        }

        @Override
        String exists() {
            return "SELECT CASE WHEN to_regclass(?) IS NOT NULL THEN 1 ELSE 0 END";
        }

        @Override
        String indexExists() {
            return """
                    SELECT COUNT(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
                     WHERE i.indrelid = to_regclass(?) AND c.relname = ?
                    """;
        }

        @Override
        List<String> lookupSuffixes() {
            return List.of("_by_key", "_by_related", "_by_tenant");
        }

        /** Of 63 characters, less the longest suffix. */
        @Override
        int longestName() {
            return 63 - "_one_payload".length();
        }

        @Override
        String quote(TableName name) {
            return Quoted.table(name);
        }
    }

    private static final class SqlServer extends Script {
        SqlServer(Kind kind) {
            super("sqlserver", kind);
        }

        @Override
        String rendered(String text, String placeholder, TableName name) {
            String schema = name.schema();
            return text.replace("[" + placeholder + "]", quote(name))
                    .replace(
                            "\"" + placeholder,
                            schema == null ? "\"" + placeholder : "\"" + schema + "\".\"" + placeholder)
                    .replace("SCHEMA_NAME()", schema == null ? "SCHEMA_NAME()" : "N'" + schema + "'")
                    .replace(placeholder, name.name());
        }

        /** Reading opens the transaction that the driver has only announced, and that the lock needs. */
        @Override
        String serialize() {
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
        String exists() {
            return "SELECT CASE WHEN OBJECT_ID(?) IS NOT NULL THEN 1 ELSE 0 END";
        }

        @Override
        String indexExists() {
            return "SELECT COUNT(*) FROM sys.indexes WHERE object_id = OBJECT_ID(?) AND name = ?";
        }

        @Override
        List<String> lookupSuffixes() {
            return List.of("_ByKey", "_ByRelated", "_ByTenant");
        }

        @Override
        int longestName() {
            return 63 - "_sequence".length();
        }

        @Override
        String quote(TableName name) {
            String table = "[" + name.name() + "]";
            return name.schema() == null ? table : "[" + name.schema() + "]." + table;
        }
    }
}
