package dev.outbox.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Single records of an inbox, by their identity. Thread-safe. */
final class PostgresRecords implements InboxRecords.Statements {
    private static final String GET = """
            SELECT {topic} AS topic, {status} AS status, {attempt_count} AS attempt_count,
                {receipt_count} AS receipt_count, {first_seen_on} AS first_seen_on, {last_seen_on} AS last_seen_on,
                {processed_on} AS processed_on, {last_error} AS last_error
            FROM {table}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
            """;

    /** A record of receive is Done from the start; a work item that is Done has had its effect. */
    private static final String MARK_DEAD = """
            UPDATE {table} SET {status = 3}, {owner_token = NULL}, {locked_until = NULL},
                {processed_on = statement_timestamp()}, {last_error = :reason}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
              AND ({status} < 2 OR {status} = 2 AND {topic} IS NULL)
            """;

    /** With a due time, so that pollers find it whatever their low-water marks. Its age counts from that time. */
    private static final String REQUEUE = """
            UPDATE {table} SET {status = 0}, {attempt_count = 0}, {processed_on = NULL}, {blocks_key = false},
                {due_on = statement_timestamp()}, {first_due_on = NULL}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
              AND {status} = 3 AND {topic} IS NOT NULL
              AND (:forced OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond')
              AND (NOT :moves OR {message_key} IS NULL OR {blocks_key})
            """;

    private static final String KEY = """
            SELECT {message_key} AS message_key
            FROM {table}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id
              AND {status} = 3 AND {message_key} IS NOT NULL AND NOT {blocks_key}
            """;

    /**
     * Later items of its key were delivered without a skipped item, so the item goes to the end of the key: as an enqueue
     * does, it draws a sequence under the lock of the key. The statement may have waited for the lock, so the item is due
     * from now on, and not from when the statement began.
     */
    private static final String REQUEUE_AT_THE_END = """
            WITH locks AS MATERIALIZED (SELECT
            """ + PostgresKeyLocks.TAKE_ONE + """
             AS taken)
            UPDATE {table} t SET {sequence = DEFAULT}, {status = 0}, {attempt_count = 0}, {processed_on = NULL},
                {due_on = clock_timestamp()}, {first_due_on = NULL}
            FROM locks
            WHERE locks.taken AND {mine} AND {source} = :source AND {message_id} = :message_id
              AND {status} = 3 AND {topic} IS NOT NULL AND {message_key} = :key AND NOT {blocks_key}
              AND (:forced OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond')
            """;

    /** Such a record has nothing to handle; without it the message is new when it is sent again. */
    private static final String FORGET = """
            DELETE FROM {table}
            WHERE {mine} AND {source} = :source AND {message_id} = :message_id AND {status} = 3 AND {topic} IS NULL
            """;

    private final Sql get;
    private final Sql markDead;
    private final Sql requeue;
    private final Sql key;
    private final Sql requeueAtTheEnd;
    private final Sql forget;
    private final PostgresKeyLocks locks;

    /** Whether messages have keys in this phase. */
    private final boolean keyed;

    PostgresRecords(PostgresTable table) {
        this.get = table.layout().resolve(GET);
        this.markDead = table.layout().resolve(MARK_DEAD);
        this.requeue = table.layout().resolve(REQUEUE);
        this.key = table.layout().resolve(KEY);
        this.requeueAtTheEnd = table.layout().resolve(REQUEUE_AT_THE_END);
        this.forget = table.layout().resolve(FORGET);
        this.locks = new PostgresKeyLocks(table.name());
        this.keyed = !table.phase().before(Phase.FLIPPED);
    }

    @Override
    public Query get(Connection connection, Identity identity) throws SQLException {
        return identified(get, connection, identity);
    }

    @Override
    public int markDead(Connection tx, Identity identity, String reason) throws SQLException {
        try (Query query = identified(markDead, tx, identity)) {
            return query.set("reason", reason).update();
        }
    }

    @Override
    public int requeue(Connection connection, Identity identity, boolean forced, Duration window) throws SQLException {
        try (Query query = identified(requeue, connection, identity)) {
            int changed = query.set("forced", forced)
                    .set("window", window)
                    .set("moves", keyed)
                    .update();
            if (changed > 0 || !keyed) {
                return changed;
            }
        }
        String found = keyOfSkipped(connection, identity);
        if (found == null) {
            return 0;
        }
        try (Query query = identified(requeueAtTheEnd, connection, identity)) {
            locks.set(query, found);
            return query.set("key", found)
                    .set("forced", forced)
                    .set("window", window)
                    .update();
        }
    }

    private @Nullable String keyOfSkipped(Connection connection, Identity identity) throws SQLException {
        try (Query query = identified(key, connection, identity);
                ResultSet row = query.rows()) {
            return row.next() ? row.getString("message_key") : null;
        }
    }

    @Override
    public int forget(Connection connection, Identity identity) throws SQLException {
        try (Query query = identified(forget, connection, identity)) {
            return query.update();
        }
    }

    private static Query identified(Sql sql, Connection connection, Identity identity) throws SQLException {
        return sql.on(connection).set("source", identity.source()).set("message_id", identity.messageId());
    }
}
