package dev.outbox.postgres;

import dev.outbox.internal.UuidV7;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.inbox.Arrival;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.inbox.Known;
import dev.outbox.jdbc.internal.inbox.ReceiveStatements;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Receives messages on the caller's connection, one round trip per call.
 *
 * <p><b>Identity.</b> The insert meets the primary key (consumer, source, message id). A unique violation would
 * abort the caller's transaction, so a known message is an update instead, of the two columns that count receipts
 * and are in no index. A first receipt is the one that leaves the count at one.
 *
 * <p><b>Concurrent arrivals.</b> While another transaction that inserted the same message is open, the insert waits for its
 * end: if that transaction rolls back, ours is the first. To call ours a duplicate at once would lose the message then. The
 * wait is bounded by {@code lock_timeout}, which the statement itself sets, in the same round trip: what the insert reads
 * first shortens the timeout and keeps the old value in a setting of its own, and RETURNING restores it. RETURNING runs after
 * each row, so only the last row restores it. If the statement fails, its settings roll back too. A shorter timeout of the
 * caller stays in force.
 *
 * <p><b>STRICT order</b> of what is enqueued: the key's locks are taken before its sequence is drawn, as in {@link
 * PostgresEnqueue}.
 */
final class PostgresReceive implements ReceiveStatements {
    /** Keeps the lock timeout of the caller, and then shortens it. One expression, so that the order is certain. */
    static final String SHORTENED = """
            set_config('lock_timeout', CASE
                WHEN set_config('outbox.lock_timeout', current_setting('lock_timeout'), true) = '0'
                    OR current_setting('lock_timeout')::interval > (:lock_timeout::text)::interval
                THEN :lock_timeout::text ELSE current_setting('lock_timeout') END, true) IS NOT NULL""";

    /** Counts a message that is known; the last row restores the lock timeout of the caller. */
    private static final String OR_COUNT = """
            ON CONFLICT ({consumer}, {source}, {message_id}) DO UPDATE SET
                {receipt_count = CASE WHEN t.{hash} <> EXCLUDED.{hash} THEN t.{receipt_count}
                    ELSE LEAST(t.{receipt_count}, 2147483646) + 1 END},
                {last_seen_on = CASE WHEN t.{hash} <> EXCLUDED.{hash} THEN t.{last_seen_on}
                    ELSE GREATEST(t.{last_seen_on}, statement_timestamp()) END}
            RETURNING {source} AS source, {message_id} AS message_id, {receipt_count} AS receipt_count,
                {first_seen_on} AS first_seen_on, {last_seen_on} AS last_seen_on, {hash} AS hash,
                CASE WHEN {source} = :last_source::text AND {message_id} = :last_message_id::text
                    THEN set_config('lock_timeout', current_setting('outbox.lock_timeout'), true) END""";

    /** Stores the record of one message. What follows says what to do if the message is known. */
    static final String RECORD = """
            INSERT INTO {table} AS t ({work_item_id:}, {consumer:}, {source:}, {message_id:}, {hash:}, {first_seen_on:},
                {last_seen_on:}, {receipt_count:}, {created_on:}, {processed_on:}, {status:}, {attempt_count:},
                {priority:}, {blocks_key:})
            SELECT {work_item_id: :id::uuid}, {consumer: :consumer}, {source: :source::text},
                {message_id: :message_id::text}, {hash: :hash::bytea}, {first_seen_on: statement_timestamp()},
                {last_seen_on: statement_timestamp()}, {receipt_count: 1}, {created_on: statement_timestamp()},
                {processed_on: statement_timestamp()}, {status: 2}, {attempt_count: 0}, {priority: 1}, {blocks_key: false}
            WHERE
            """ + SHORTENED + "\n";

    static final String RECEIVE = RECORD + OR_COUNT;

    /** Stores several messages for a handler. What follows says what to do with those that are known. */
    static final String STORE = """
            WITH caller AS MATERIALIZED (SELECT
            """ + SHORTENED + """
             AS shortened),
            locks AS MATERIALIZED (
                SELECT l.taken FROM caller CROSS JOIN LATERAL (
                    SELECT taken FROM (
            """ + PostgresKeyLocks.TAKE_ALL + """
            ) now WHERE caller.shortened OFFSET 0) l
            )
            INSERT INTO {table} AS t ({work_item_id:}, {consumer:}, {source:}, {message_id:}, {hash:}, {first_seen_on:},
                {last_seen_on:}, {receipt_count:}, {created_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:},
                {blocks_key:}, {topic:}, {message_key:}, {correlation_id:}, {tenant_id:}, {content_type:}, {headers:},
                {payload:}, {payload_bytes:})
            SELECT {work_item_id: m.id}, {consumer: :consumer}, {source: m.source}, {message_id: m.message_id},
                {hash: m.hash}, {first_seen_on: statement_timestamp()}, {last_seen_on: statement_timestamp()},
                {receipt_count: 1}, {created_on: statement_timestamp()},
                {due_on: COALESCE(m.due, statement_timestamp() + m.due_in * interval '1 microsecond')},
                {status: 0}, {attempt_count: 0}, {priority: COALESCE(m.priority, 1::smallint)}, {blocks_key: false},
                {topic: m.topic}, {message_key: m.message_key}, {correlation_id: m.correlation_id},
                {tenant_id: m.tenant_id}, {content_type: m.content_type}, {headers: m.headers}, {payload: m.payload},
                {payload_bytes: m.payload_bytes}
            FROM locks,
                unnest(:ids::uuid[], :dues::timestamptz[], :due_ins::bigint[], :priorities::smallint[],
                    :topics::text[], :keys::text[], :message_ids::text[], :correlation_ids::text[],
                    :tenant_ids::text[], :content_types::text[], :headers::text[], :payloads::text[],
                    :payload_bytes::bytea[], :sources::text[], :hashes::bytea[])
                WITH ORDINALITY AS m(id, due, due_in, priority, topic, message_key, message_id, correlation_id,
                    tenant_id, content_type, headers, payload, payload_bytes, source, hash, position)
            WHERE locks.taken
            ORDER BY m.position
            """;

    static final String ENQUEUE = STORE + OR_COUNT;

    private final PostgresTable table;
    private final boolean strict;
    private final String lockTimeout;
    private final Taking receive;
    private final Taking enqueue;
    private final PostgresKeyLocks locks;

    /** @param strict whether it locks the keys of what it stores */
    PostgresReceive(PostgresTable table, boolean strict, Duration lockTimeout) {
        this.table = table;
        this.strict = strict;
        this.lockTimeout = lockTimeout.toMillis() + "ms";
        boolean canonical = table.phase() == Phase.CLEAN;
        this.receive = canonical ? taking(RECEIVE) : new PostgresDualReceive(table, RECORD, this.lockTimeout);
        this.enqueue = canonical ? taking(ENQUEUE) : new PostgresDualReceive(table, STORE, this.lockTimeout);
        this.locks = new PostgresKeyLocks(table.name());
    }

    interface Parameters {
        void set(Query query) throws SQLException;
    }

    /** Stores the messages that are new, each once, and counts the others. */
    interface Taking {
        Map<Identity, Known> take(Connection tx, List<Arrival> sent, Parameters parameters) throws SQLException;
    }

    private Taking taking(String statement) {
        Sql sql = table.layout().resolve(statement);
        return (tx, sent, parameters) -> {
            try (Query query = sql.on(tx)) {
                Identity last = sent.get(sent.size() - 1).identity();
                query.set("lock_timeout", this.lockTimeout)
                        .set("last_source", last.source())
                        .set("last_message_id", last.messageId());
                parameters.set(query);
                return read(query.rows(), sent);
            }
        };
    }

    static Map<Identity, Known> read(ResultSet rows, Collection<Arrival> sent) throws SQLException {
        Map<Identity, byte[]> hashes = Known.hashes(sent);
        Map<Identity, Known> known = new HashMap<>();
        try (rows) {
            while (rows.next()) {
                Known.read(rows, hashes, known);
            }
        }
        return known;
    }

    @Override
    public void check(Arrival arrival) {
        table.checkLength("source", arrival.identity().source());
        table.checkLength("message_id", arrival.identity().messageId());
        if (arrival.isToStore()) {
            table.check(arrival.row().message());
        }
    }

    @Override
    public Map<Identity, Known> receive(Connection tx, Arrival arrival) throws SQLException {
        return receive.take(
                tx,
                List.of(arrival),
                query -> query.set("id", UuidV7.next())
                        .set("source", arrival.identity().source())
                        .set("message_id", arrival.identity().messageId())
                        .set("hash", arrival.hash()));
    }

    @Override
    public Map<Identity, Known> enqueue(Connection tx, List<Arrival> arrivals) throws SQLException {
        List<MessageRow> rows = arrivals.stream().map(Arrival::row).toList();
        return enqueue.take(tx, arrivals, query -> {
            locks.set(query, rows, strict);
            MessageRow.bindAll(query, rows)
                    .setArray("sources", "text", sources(arrivals))
                    .setArray("hashes", "bytea", hashes(arrivals));
        });
    }

    static Object[] sources(List<Arrival> arrivals) {
        return arrivals.stream().map(arrival -> arrival.identity().source()).toArray();
    }

    static Object[] hashes(List<Arrival> arrivals) {
        return arrivals.stream().map(Arrival::hash).toArray(byte[][]::new);
    }
}
