package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.layout.Reading;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How statements of an inbox tell messages apart.
 *
 * <p>A canonical inbox knows a message by its consumer, source and id, compared exactly. Until it is one, the message id
 * alone is the key of the table, under whatever collation and type it has: that key says whether a message can be stored,
 * and what else the row says decides whether it is the same message.
 */
final class SqlServerIdentity {
    /** What only a canonical inbox has. */
    static final List<String> EXACT = List.of("exact_source", "exact_message_id");

    private static final String BINARY = "Latin1_General_100_BIN2";

    private SqlServerIdentity() {}

    static Map<String, String> exact(String source, String messageId) {
        String one = source + " = @exact_source AND " + messageId + " = @exact_message_id";
        String each = "t." + source + " = m.Source + N'.' AND t." + messageId + " = m.MessageId + N'.'";
        return Map.of(
                "taken", one,
                "same", one,
                "taken_by", each,
                "same_as", each,
                "of_message", "",
                "forget", "",
                "forget_all", "");
    }

    /** @param forgetting see {@link #forgetting}; null where there is nothing to forget */
    static Map<String, String> byMessageId(Column key, Column source, @Nullable Forgetting forgetting) {
        String one = SqlServerColumns.quoted(key) + " = CAST(@message_id AS " + key.definition() + ")";
        // What is sent has a collation of its own; said to be compared by the column's, the index still serves.
        String each = "t." + SqlServerColumns.quoted(key) + " = CAST(m.MessageId AS " + key.definition() + ") COLLATE "
                + key.collation();
        String sameOne =
                one + " AND " + exactly("", source, "@exact_source") + " AND " + exactly("", key, "@exact_message_id");
        String sameEach = each + " AND " + exactly("t.", source, "m.Source + N'.'") + " AND "
                + exactly("t.", key, "m.MessageId + N'.'");
        String sent = "CAST(:message_id AS nvarchar(256))";
        Map<String, String> read = new HashMap<>(Map.of(
                "taken", one,
                "same", sameOne,
                "taken_by", each,
                "same_as", sameEach,
                "of_message",
                        SqlServerColumns.quoted(key) + " = CAST(LEFT(" + sent + ", LEN(" + sent + ") - 1) AS "
                                + key.definition() + ") AND "));
        read.put(
                "forget",
                forgetting == null
                        ? ""
                        : "DELETE FROM " + forgetting.table + " WHERE " + sameOne + " AND " + forgetting.of("") + ";");
        read.put(
                "forget_all",
                forgetting == null
                        ? ""
                        : "DELETE t FROM " + forgetting.table + " t JOIN @messages m ON " + sameEach + " WHERE "
                                + forgetting.of("t.") + ";");
        return read;
    }

    private static String exactly(String alias, Column column, String value) {
        return "CAST(" + alias + SqlServerColumns.quoted(column) + " AS nvarchar(255)) + N'.' = " + value + " COLLATE "
                + BINARY;
    }

    static Reading exact(Column column) {
        return Reading.of("CAST(%s AS nvarchar(255)) + N'.' COLLATE " + BINARY, SqlServerColumns.quoted(column));
    }

    /** Rows that mean "arrived, not processed": whoever comes next is the first again. */
    record Forgetting(String table, String ready, String processing, String topic) {
        private String of(String alias) {
            return alias + topic + " IS NULL AND (" + alias + ready + " OR " + alias + processing + ")";
        }
    }

    /**
     * An old application leaves a row without a topic when a message arrives, and finishes it later.
     *
     * @param table as it is named
     */
    static Forgetting forgetting(String table, String ready, String processing, String topic) {
        return new Forgetting("[" + table.replace(".", "].[") + "]", ready, processing, topic);
    }
}
