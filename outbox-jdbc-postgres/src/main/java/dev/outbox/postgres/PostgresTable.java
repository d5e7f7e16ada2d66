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
 * An outbox table as it was found in the catalog.
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

    static PostgresTable detect(Connection connection, TableName name) throws SQLException {
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
        List<String> missing = new ArrayList<>(COLUMNS);
        missing.removeAll(columns.keySet());
        if (!missing.isEmpty()) {
            throw new OutboxException("table \"" + found + "\" is not an outbox table: it has no column "
                    + String.join(", ", missing) + "; apply outbox-migrations (postgres) or set table(...)");
        }
        return new PostgresTable(found, new Layout(quote(found), columns), oid ^ LOCK_SPACE);
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
