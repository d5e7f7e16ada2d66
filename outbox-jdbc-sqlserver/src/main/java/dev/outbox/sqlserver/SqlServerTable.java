package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.NationalText;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param byCodePoint whether the server counts the characters of a text by code point, or by unit of UTF-16
 * @param lockSpace what the names of this table's application locks begin with, the same on every node
 */
record SqlServerTable(TableName name, Layout layout, String lockSpace, boolean byCodePoint) {
    /** How a statement says by which index it goes, and how that ends in the canonical scripts. */
    static final Map<String, String> INDEXES = Map.of(
            "by_ready", "_Ready",
            "by_due", "_Due",
            "by_key", "_Key",
            "by_key_high", "_KeyHigh",
            "by_key_blocked", "_KeyBlocked",
            "by_leased", "_Leased",
            "by_done", "_Done",
            "by_dead", "_Dead");

    /** How long a rocket is; databases at a compatibility level below 130 do not know OPENJSON. */
    static final String LENGTH = """
            SELECT LEN(CAST(? AS nvarchar(10)) COLLATE Latin1_General_100_BIN2) FROM OPENJSON(N'[1]')
            """;

    private static final String PRODUCT = "Microsoft SQL Server";

    private static final int INVALID_OBJECT = 208;

    /** An outbox table: every row is ours. */
    static SqlServerTable detect(Connection connection, TableName name) throws SQLException {
        checkProduct(connection, name);
        boolean byCodePoint = countsByCodePoint(connection);
        SqlServerCatalog found = find(connection, name);
        Map<String, String> columns = columns(found);
        if (columns.keySet().containsAll(SqlServerSchema.columns(true))) {
            throw new OutboxException("table \"" + found.name()
                    + "\" is an inbox table; open it with SqlServerInbox, or" + " set table(...)");
        }
        check(found, false);
        columns.put("mine", "1 = 1");
        columns.put("claimed_source", "CAST(NULL AS nvarchar(255))");
        return table(found.name(), columns, Map.of(), byCodePoint);
    }

    /** An inbox table: the rows of this consumer are ours. */
    static SqlServerTable detectInbox(Connection connection, TableName name, String consumer) throws SQLException {
        checkProduct(connection, name);
        boolean byCodePoint = countsByCodePoint(connection);
        SqlServerCatalog found = find(connection, name);
        check(found, true);
        Map<String, String> columns = columns(found);
        columns.put("mine", columns.get("consumer") + " = :consumer");
        columns.put("claimed_source", "inserted." + columns.get("source"));
        return table(found.name(), columns, Map.of("consumer", new NationalText(consumer)), byCodePoint);
    }

    private static SqlServerTable table(
            TableName name, Map<String, String> columns, Map<String, Object> constants, boolean byCodePoint) {
        columns.put("next_sequence", "\"" + name.schema() + "\".\"" + name.name() + "_sequence\"");
        return new SqlServerTable(
                name, new Layout(quote(name), columns, constants), "dev.outbox:" + name + ":", byCodePoint);
    }

    /** Logical names to what stands for them: columns, and the indexes that statements may name. */
    private static Map<String, String> columns(SqlServerCatalog found) {
        Map<String, String> columns = new HashMap<>();
        found.columns()
                .forEach(column -> columns.put(SqlServerSchema.logical(column.name()), "[" + column.name() + "]"));
        Set<String> canBeNamed = found.indexes().stream()
                .filter(index -> index.filtered() && !index.disabled())
                .map(SqlServerCatalog.Index::name)
                .collect(Collectors.toSet());
        // Where literals are made parameters, a filtered index that is named would be an error (8622) instead of being
        // passed over.
        INDEXES.forEach((logical, suffix) -> {
            String index = found.name().name() + suffix;
            columns.put(logical, canBeNamed.contains(index) && !found.forced() ? "INDEX([" + index + "]), " : "");
        });
        return columns;
    }

    private static SqlServerCatalog find(Connection connection, TableName name) throws SQLException {
        SqlServerCatalog found = SqlServerCatalog.read(connection, name);
        if (found.columns().isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" not found; apply outbox-migrations (sqlserver) or set table(...)");
        }
        return found;
    }

    private static void check(SqlServerCatalog found, boolean inbox) {
        List<String> problems = SqlServerSchema.problems(found, inbox);
        if (!problems.isEmpty()) {
            throw new OutboxException("table \"" + found.name() + "\" is not " + (inbox ? "an inbox" : "an outbox")
                    + " table: " + String.join("; ", problems)
                    + "; apply outbox-migrations (sqlserver) or set table(...)");
        }
    }

    private static void checkProduct(Connection connection, TableName name) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        if (!product.equals(PRODUCT)) {
            throw new OutboxException("the data source leads to " + product + ", not to " + PRODUCT + "; open table \""
                    + name + "\" with PostgresOutbox or PostgresInbox, or give the data source of a SQL Server");
        }
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

    /** What statements may name. */
    static List<String> logicalColumns() {
        return SqlServerSchema.columns(true);
    }

    static String quote(TableName name) {
        String table = "[" + name.name() + "]";
        return name.schema() == null ? table : "[" + name.schema() + "]." + table;
    }
}
