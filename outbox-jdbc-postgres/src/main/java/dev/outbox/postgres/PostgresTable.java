package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.Layout;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * An outbox or inbox table as it was found in the catalog.
 *
 * @param name with its schema
 * @param lockSpace the first half of this table's advisory lock keys, the same on every node
 */
record PostgresTable(TableName name, Layout layout, int lockSpace) {
    /** In case somebody else uses table oids as lock keys too. */
    private static final int LOCK_SPACE = 0x6f757462;

    private static final List<String> COLUMNS = List.of(
            "work_item_id",
            "owner_token",
            "sequence",
            "created_on",
            "due_on",
            "locked_until",
            "processed_on",
            "attempt_count",
            "status",
            "priority",
            "blocks_key",
            "topic",
            "message_key",
            "message_id",
            "correlation_id",
            "tenant_id",
            "content_type",
            "processed_by",
            "last_error",
            "headers",
            "payload",
            "payload_bytes");

    private static final String FIND = """
            SELECT c.oid::bigint::int, n.nspname, a.attname
            FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE c.oid = to_regclass(?)
            """;

    /** What tells an inbox table from an outbox. */
    private static final List<String> INBOX_COLUMNS =
            List.of("consumer", "source", "hash", "receipt_count", "first_seen_on", "last_seen_on");

    /** An outbox table: every row is ours. */
    static PostgresTable detect(Connection connection, TableName name) throws SQLException {
        Found found = find(connection, name);
        found.need("an outbox", COLUMNS);
        if (found.columns.keySet().containsAll(INBOX_COLUMNS)) {
            throw new OutboxException("table \"" + found.name + "\" is an inbox table; open it with PostgresInbox, or"
                    + " set table(...)");
        }
        found.columns.put("mine", "true");
        found.columns.put("source", "NULL::text");
        return found.table(Map.of());
    }

    /** An inbox table: the rows of this consumer are ours. */
    static PostgresTable detectInbox(Connection connection, TableName name, String consumer) throws SQLException {
        Found found = find(connection, name);
        found.need("an inbox", COLUMNS);
        found.need("an inbox", INBOX_COLUMNS);
        found.columns.put("mine", found.columns.get("consumer") + " = :consumer");
        return found.table(Map.of("consumer", consumer));
    }

    /** @param columns logical name to what stands for it */
    private record Found(TableName name, int oid, Map<String, String> columns) {
        void need(String what, List<String> needed) {
            List<String> missing = new ArrayList<>(needed);
            missing.removeAll(columns.keySet());
            if (!missing.isEmpty()) {
                throw new OutboxException("table \"" + name + "\" is not " + what + " table: it has no column "
                        + String.join(", ", missing) + "; apply outbox-migrations (postgres) or set table(...)");
            }
        }

        PostgresTable table(Map<String, Object> constants) {
            return new PostgresTable(name, new Layout(quote(name), columns, constants), oid ^ LOCK_SPACE);
        }
    }

    private static Found find(Connection connection, TableName name) throws SQLException {
        Map<String, String> columns = new HashMap<>();
        TableName found = name;
        int oid = 0;
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setString(1, quote(name));
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    oid = row.getInt(1);
                    found = name.in(row.getString(2));
                    columns.put(row.getString(3), "\"" + row.getString(3) + "\"");
                }
            }
        }
        if (columns.isEmpty()) {
            throw new OutboxException(
                    "table \"" + name + "\" not found; apply outbox-migrations (postgres) or set table(...)");
        }
        return new Found(found, oid, columns);
    }

    /** Where NOTIFY about this table goes, the same on every node; the number is the table's oid. */
    String channel() {
        return "outbox_" + Integer.toUnsignedString(lockSpace ^ LOCK_SPACE);
    }

    private static String quote(TableName name) {
        String table = "\"" + name.name() + "\"";
        return name.schema() == null ? table : "\"" + name.schema() + "\"." + table;
    }
}
