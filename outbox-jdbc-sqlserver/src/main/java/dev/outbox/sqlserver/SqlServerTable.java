package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.ItemColumns;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.NationalText;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param byCodePoint whether the server counts the characters of a text by code point, or by unit of UTF-16
 * @param lockSpace what the names of this table's application locks begin with, the same on every node
 */
record SqlServerTable(TableName name, Layout layout, String lockSpace, boolean byCodePoint) {
    private static final List<String> COLUMNS = ItemColumns.with("exact_key");

    /** What tells an inbox table from an outbox. */
    private static final List<String> INBOX_COLUMNS = List.of(
            "consumer",
            "source",
            "exact_source",
            "exact_message_id",
            "hash",
            "receipt_count",
            "first_seen_on",
            "last_seen_on");

    /** How a statement says by which index it goes, and how that ends in the canonical scripts. */
    static final Map<String, String> INDEXES = Map.of(
            "by_ready", "_Ready",
            "by_due", "_Due",
            "by_key", "_Key",
            "by_key_high", "_KeyHigh",
            "by_key_blocked", "_KeyBlocked",
            "by_leased", "_Leased",
            "by_done", "_Done");

    static final String FIND = """
            SELECT s.name AS schema_name, c.name AS column_name
            FROM sys.objects o
            JOIN sys.schemas s ON s.schema_id = o.schema_id
            JOIN sys.columns c ON c.object_id = o.object_id
            WHERE o.object_id = OBJECT_ID(?) AND o.type = 'U'
            """;

    /**
     * Indexes that statements may name. Where literals are made parameters, a filtered index that is named would be an
     * error (8622) instead of being passed over, so none is.
     */
    static final String FIND_INDEXES = """
            SELECT i.name FROM sys.indexes i
            WHERE i.object_id = OBJECT_ID(?) AND i.has_filter = 1 AND NOT EXISTS (
                SELECT 1 FROM sys.databases d WHERE d.database_id = DB_ID() AND d.is_parameterization_forced = 1)
            """;

    static final String FIND_SEQUENCE = "SELECT OBJECT_ID(?, N'SO')";

    /** How long a rocket is; databases at a compatibility level below 130 do not know OPENJSON. */
    static final String LENGTH = """
            SELECT LEN(CAST(? AS nvarchar(10)) COLLATE Latin1_General_100_BIN2) FROM OPENJSON(N'[1]')
            """;

    private static final String PRODUCT = "Microsoft SQL Server";

    private static final int INVALID_OBJECT = 208;

    /** An outbox table: every row is ours. */
    static SqlServerTable detect(Connection connection, TableName name) throws SQLException {
        Found found = find(connection, name);
        found.need("an outbox", COLUMNS);
        if (found.columns.keySet().containsAll(INBOX_COLUMNS)) {
            throw new OutboxException("table \"" + found.name + "\" is an inbox table; open it with SqlServerInbox, or"
                    + " set table(...)");
        }
        found.columns.put("mine", "1 = 1");
        found.columns.put("claimed_source", "CAST(NULL AS nvarchar(255))");
        return found.table(Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static SqlServerTable detectInbox(Connection connection, TableName name, String consumer) throws SQLException {
        Found found = find(connection, name);
        found.need("an inbox", COLUMNS);
        found.need("an inbox", INBOX_COLUMNS);
        found.columns.put("mine", found.columns.get("consumer") + " = :consumer");
        found.columns.put("claimed_source", "inserted." + found.columns.get("source"));
        return found.table(Map.of("consumer", new NationalText(consumer)));
    }

    /** Where it has the canonical indexes, statements name them, whatever the optimizer would rather do. */
    private static void nameIndexes(Connection connection, TableName table, Map<String, String> columns)
            throws SQLException {
        Map<String, String> hints = new HashMap<>();
        INDEXES.forEach((logical, suffix) -> hints.put(table.name() + suffix, logical));
        hints.values().forEach(logical -> columns.put(logical, ""));
        try (PreparedStatement find = connection.prepareStatement(FIND_INDEXES)) {
            find.setNString(1, quote(table));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    String logical = hints.get(row.getString("name"));
                    if (logical != null) {
                        columns.put(logical, "INDEX([" + row.getString("name") + "]), ");
                    }
                }
            }
        }
    }

    /** @param columns logical name to what stands for it */
    private record Found(TableName name, Map<String, String> columns, boolean byCodePoint) {
        void need(String what, List<String> needed) {
            List<String> missing = new ArrayList<>(needed);
            missing.removeAll(columns.keySet());
            if (!missing.isEmpty()) {
                throw new OutboxException("table \"" + name + "\" is not " + what + " table: it has no column "
                        + String.join(", ", missing) + "; apply outbox-migrations (sqlserver) or set table(...)");
            }
        }

        SqlServerTable table(Map<String, Object> constants) {
            TableName sequence = sequence(name);
            columns.put("next_sequence", "\"" + sequence.schema() + "\".\"" + sequence.name() + "\"");
            return new SqlServerTable(
                    name, new Layout(quote(name), columns, constants), "dev.outbox:" + name + ":", byCodePoint);
        }
    }

    private static Found find(Connection connection, TableName name) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals(PRODUCT)) {
            throw new OutboxException("the data source leads to " + product + ", not to " + PRODUCT + "; open table \""
                    + name + "\" with PostgresOutbox or PostgresInbox, or give the data source of a SQL Server");
        }
        boolean byCodePoint = countsByCodePoint(connection);
        Map<String, String> columns = new HashMap<>();
        TableName found = name;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setNString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    found = name.in(row.getString("schema_name"));
                    String column = row.getString("column_name");
                    String other = columns.put(logical(column), "[" + column + "]");
                    if (other != null) {
                        throw new OutboxException("table \"" + name + "\" has two columns for one thing: [" + column
                                + "] and " + other + "; rename or remove one of them");
                    }
                }
            }
        }
        if (columns.isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" not found; apply outbox-migrations (sqlserver) or set table(...)");
        }
        checkSequence(connection, found);
        nameIndexes(connection, found, columns);
        return new Found(found, columns, byCodePoint);
    }

    private static boolean countsByCodePoint(Connection connection) throws SQLException {
        try (PreparedStatement length = connection.prepareStatement(LENGTH)) {
            length.setNString(1, "\uD83D\uDE80");
            try (ResultSet row = length.executeQuery()) {
                row.next();
                return row.getInt(1) == 1;
            }
        } catch (SQLException e) {
            if (e.getErrorCode() == INVALID_OBJECT) {
                throw new OutboxException(
                        "the database does not know OPENJSON: its compatibility level must be at least"
                                + " 130 (SQL Server 2016); raise it with ALTER DATABASE ... SET COMPATIBILITY_LEVEL");
            }
            throw e;
        }
    }

    private static void checkSequence(Connection connection, TableName table) throws SQLException {
        TableName sequence = sequence(table);
        try (PreparedStatement find = connection.prepareStatement(FIND_SEQUENCE)) {
            find.setNString(1, quote(sequence));
            try (ResultSet row = find.executeQuery()) {
                row.next();
                if (row.getObject(1) == null) {
                    throw new OutboxException(
                            "sequence \"" + sequence + "\" not found, which numbers the rows of table \"" + table
                                    + "\"; apply outbox-migrations (sqlserver) or set table(...)");
                }
            }
        }
    }

    private static TableName sequence(TableName table) {
        return new TableName(table.schema(), table.name() + "_sequence");
    }

    /** What statements may name. */
    static List<String> logicalColumns() {
        List<String> all = new ArrayList<>(COLUMNS);
        all.addAll(INBOX_COLUMNS);
        return all;
    }

    /** WorkItemId, workitemid and work_item_id are work_item_id. */
    private static String logical(String column) {
        String plain = plain(column);
        return logicalColumns().stream()
                .filter(name -> plain(name).equals(plain))
                .findFirst()
                .orElse(column);
    }

    private static String plain(String column) {
        return column.replace("_", "").toLowerCase(Locale.ROOT);
    }

    static String quote(TableName name) {
        String table = "[" + name.name() + "]";
        return name.schema() == null ? table : "[" + name.schema() + "]." + table;
    }
}
