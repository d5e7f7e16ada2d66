package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.spi.Lease;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * How the id of a work item names a row: by its work item id, or, in an inbox before the flip, which has no such column
 * yet or has not filled it, by its message id. The two are told apart, and what was claimed by a message id is found by it
 * after the flip.
 */
final class SqlServerItems {
    /** What an item id begins with that holds a message id. No UUID does. */
    private static final String MESSAGE = "message ";

    /** The ids of items that were claimed by their message ids. */
    static final String FIND = """
            SET NOCOUNT ON;
            DECLARE @ids TABLE (Item nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL);
            INSERT INTO @ids (Item) SELECT j.t FROM OPENJSON(:message_ids) WITH (t nvarchar(255) '$.t') j;
            SELECT i.Item AS message_id, LOWER(CAST(t.{work_item_id} AS nvarchar(36))) AS id
            FROM @ids i JOIN {table} t ON t.{message_id} = i.Item
            WHERE {mine} AND t.{status} = 1;
            """;

    /** The name of no row. */
    private static final String NOBODY = "00000000-0000-0000-0000-000000000000";

    private final boolean byMessageId;
    private final Sql find;

    SqlServerItems(SqlServerTable table) {
        this.byMessageId = table.inbox() && table.byOld();
        this.find = table.layout().resolve(FIND);
    }

    /** The type of what names a row, and how it is answered. */
    static Map<String, Reading> named(Optional<Column> messageId) {
        return messageId
                .map(column -> Map.of(
                        "id_type",
                        Reading.fixed(column.definition() + " COLLATE " + column.collation()),
                        "json_id",
                        Reading.fixed("nvarchar(255)"),
                        "item_text",
                        Reading.of("N'" + MESSAGE + "' + %s", "Item")))
                .orElse(Map.of(
                        "id_type",
                        Reading.fixed("uniqueidentifier"),
                        "json_id",
                        Reading.fixed("uniqueidentifier"),
                        "item_text",
                        Reading.of("LOWER(CAST(%s AS nvarchar(36)))", "Item")));
    }

    /** What is sent for each item id, and back. */
    record Names(Map<String, String> sent, Map<String, String> given) {
        String sent(Lease lease) {
            return sent.getOrDefault(lease.itemId(), lease.itemId());
        }

        String given(String answered) {
            return given.getOrDefault(answered, answered);
        }
    }

    Names names(Connection connection, List<Lease> leases) throws SQLException {
        Map<String, String> sent = new HashMap<>();
        leases.stream()
                .map(Lease::itemId)
                .filter(id -> id.startsWith(MESSAGE))
                .forEach(id -> sent.put(id, id.substring(MESSAGE.length())));
        return byMessageId || sent.isEmpty() ? new Names(sent, Map.of()) : found(connection, sent);
    }

    /** What is not found any more is given a name that nothing has. */
    private Names found(Connection connection, Map<String, String> asked) throws SQLException {
        Map<String, String> sent = new HashMap<>();
        Map<String, String> given = new HashMap<>();
        asked.keySet().forEach(id -> sent.put(id, NOBODY));
        try (Query query = find.on(connection)) {
            query.set("message_ids", JsonRows.topics(Set.copyOf(asked.values())));
            try (ResultSet row = query.rows()) {
                while (row.next()) {
                    String id = MESSAGE + row.getString("message_id");
                    sent.put(id, row.getString("id"));
                    given.put(row.getString("id"), id);
                }
            }
        }
        return new Names(sent, given);
    }
}
