package dev.outbox.sqlserver;

import dev.outbox.internal.UuidV7;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.inbox.Arrival;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.inbox.Known;
import dev.outbox.jdbc.internal.inbox.ReceiveStatements;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Receives messages on the caller's connection, one round trip per call.
 *
 * <p><b>Identity.</b> The key is (consumer, source, message id); {@link SqlServerIdentity} has the one of a table whose
 * migration is under way. The insert leaves out the messages that it can see, and the batch counts them as received once
 * more. If another transaction stores the same message in between, the insert fails with 2627 (or 2601), and the batch tries
 * it again; while XACT_ABORT is off, this error does not end the transaction. The batch locks no range of keys (HOLDLOCK):
 * if ids grow, all receivers would lock the end of the index, and wait and deadlock for messages that have nothing to do with
 * each other. A first receipt is the one that leaves the count at one.
 *
 * <p><b>Concurrent arrivals.</b> While another transaction that inserted the same message is open, ours waits for its end: if
 * that transaction rolls back, ours is the first. To call ours a duplicate at once would lose the message then. The wait is
 * bounded by LOCK_TIMEOUT, unless the caller's own is shorter; the server restores it at the end of the batch.
 *
 * <p><b>STRICT order</b> of what is enqueued: the key's locks are taken before its sequence is drawn, as in {@link
 * SqlServerEnqueue}.
 */
final class SqlServerReceive implements ReceiveStatements {
    /** The server takes no variable here, so the number is written in when the inbox is built. */
    private static final String PATIENCE = """
            SET NOCOUNT ON;
            SET XACT_ABORT OFF;
            DECLARE @caller int = @@LOCK_TIMEOUT;
            IF @caller NOT BETWEEN 0 AND {patience} SET LOCK_TIMEOUT {patience};
            """;

    /** For a server that does not restore the timeout by itself: it restores at least the usual value. */
    private static final String PATIENCE_BACK = "IF @caller = -1 SET LOCK_TIMEOUT -1;";

    static final String RECEIVE = """
            %1$s
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @tries int = 0, @done bit = 0, @stored int = 0,
                @id uniqueidentifier = :id, @hash varbinary(32) = :hash, @exact_source nvarchar(256),
                @exact_message_id nvarchar(256), @source nvarchar(255) = :source, @message_id nvarchar(255) = :message_id;
            SET @exact_source = @source + N'.';
            SET @exact_message_id = @message_id + N'.';
            {forget}
            WHILE @done = 0
            BEGIN TRY
                INSERT INTO {table} ({work_item_id:}, {consumer:}, {source:}, {message_id:}, {hash:}, {status:}, {attempt_count:},
                    {created_on:}, {first_seen_on:}, {last_seen_on:}, {processed_on:})
                SELECT {work_item_id: @id}, {consumer: :consumer}, {source: @source}, {message_id: @message_id},
                    {hash: @hash}, {status: 2}, {attempt_count: 0}, {created_on: @now}, {first_seen_on: @now},
                    {last_seen_on: @now}, {processed_on: @now}
                WHERE NOT EXISTS (
                    SELECT 1 FROM {table} WITH (READCOMMITTEDLOCK) WHERE {mine} AND {taken});
                SET @stored = @@ROWCOUNT;
                SET @done = 1;
            END TRY
            BEGIN CATCH
                SET @tries = @tries + 1;
                IF ERROR_NUMBER() NOT IN (2601, 2627) OR XACT_STATE() <> 1 OR @tries >= %3$d
                BEGIN;
                    THROW;
                END;
            END CATCH;
            IF @stored = 0
                UPDATE {table} SET
                    {receipt_count = CASE WHEN {hash} <> @hash THEN {receipt_count}
                        WHEN {receipt_count} = 2147483647 THEN {receipt_count} ELSE {receipt_count} + 1 END},
                    {last_seen_on = CASE WHEN {hash} <> @hash OR {last_seen_on} > @now THEN {last_seen_on} ELSE @now END}
                WHERE {mine} AND {same};
            %2$s
            SELECT 0 AS lock_code, {source} AS source, {message_id} AS message_id,
                CASE WHEN @stored > 0 OR {hash} <> @hash OR {receipt_count} > 1 THEN {receipt_count} ELSE 2 END
                    AS receipt_count,
                CAST({first_seen_on} AS datetimeoffset(7)) AS first_seen_on,
                CAST({last_seen_on} AS datetimeoffset(7)) AS last_seen_on, {hash} AS hash
            FROM {table}
            WHERE {mine} AND {taken};
            """.formatted(PATIENCE, PATIENCE_BACK, SqlServerEnqueue.TRIES);

    static final String ENQUEUE =
            """
            %1$s
            %2$s
            {forget_all}
            WHILE @done = 0 AND @lock_code >= 0
            BEGIN TRY
                UPDATE m SET Stored = 1 FROM @messages m
                WHERE NOT EXISTS (
                    SELECT 1 FROM {table} t WITH (READCOMMITTEDLOCK) WHERE {mine} AND {taken_by});
                INSERT INTO {table} ({sequence:}, {work_item_id:}, {consumer:}, {source:}, {message_id:}, {hash:},
                    {created_on:}, {first_seen_on:}, {last_seen_on:}, {due_on:}, {status:}, {attempt_count:}, {priority:}, {topic:}, {message_key:},
                    {correlation_id:}, {tenant_id:}, {content_type:}, {headers:}, {payload:}, {payload_bytes:})
                SELECT {sequence: m.Sequence}, {work_item_id: m.Id}, {consumer: :consumer}, {source: m.Source},
                    {message_id: m.MessageId}, {hash: m.Hash}, {created_on: @now}, {first_seen_on: @now},
                    {last_seen_on: @now}, {due_on: m.DueOn}, {status: 0}, {attempt_count: 0}, {priority: m.Priority},
                    {topic: m.Topic}, {message_key: m.MessageKey}, {correlation_id: m.CorrelationId},
                    {tenant_id: m.TenantId}, {content_type: m.ContentType}, {headers: m.Headers},
                    {payload: m.Payload}, {payload_bytes: m.PayloadBytes}
                FROM @messages m WHERE m.Stored = 1;
                SET @done = 1;
            END TRY
            BEGIN CATCH
                SET @tries = @tries + 1;
                IF ERROR_NUMBER() NOT IN (2601, 2627) OR XACT_STATE() <> 1 OR @tries >= %4$d
                BEGIN;
                    THROW;
                END;
                UPDATE @messages SET Stored = 0;
            END CATCH;
            IF @lock_code >= 0
                UPDATE t SET
                    {receipt_count = CASE WHEN t.{hash} <> m.Hash THEN t.{receipt_count}
                        WHEN t.{receipt_count} = 2147483647 THEN t.{receipt_count} ELSE t.{receipt_count} + 1 END},
                    {last_seen_on = CASE WHEN t.{hash} <> m.Hash OR t.{last_seen_on} > @now THEN t.{last_seen_on}
                        ELSE @now END}
                FROM {table} t JOIN @messages m ON {same_as}
                WHERE {mine} AND m.Stored = 0;
            %3$s
            SELECT @lock_code AS lock_code, f.source, f.message_id, f.receipt_count,
                CAST(f.first_seen_on AS datetimeoffset(7)) AS first_seen_on,
                CAST(f.last_seen_on AS datetimeoffset(7)) AS last_seen_on, f.hash
            FROM (SELECT 1 AS one) once LEFT JOIN (
                SELECT t.{source} AS source, t.{message_id} AS message_id,
                    CASE WHEN m.Stored = 1 OR t.{hash} <> m.Hash OR t.{receipt_count} > 1 THEN t.{receipt_count}
                        ELSE 2 END AS receipt_count,
                    t.{first_seen_on} AS first_seen_on, t.{last_seen_on} AS last_seen_on, t.{hash} AS hash
                FROM {table} t JOIN @messages m ON {taken_by}
                WHERE {mine} AND @lock_code >= 0) f ON once.one = 1;
            """.formatted(PATIENCE, SqlServerEnqueue.TAKE_LOCKS, PATIENCE_BACK, SqlServerEnqueue.TRIES);

    private final SqlServerTable table;
    private final boolean strict;
    private final int patience;
    private final Sql receive;
    private final Sql enqueue;

    /** @param strict whether it locks the keys of what it stores */
    SqlServerReceive(SqlServerTable table, boolean strict, Duration lockTimeout) {
        this.table = table;
        this.strict = strict;
        this.patience = (int) lockTimeout.toMillis();
        Layout layout = table.layout().with("patience", Reading.fixed(Integer.toString(patience)));
        this.receive = layout.resolve(RECEIVE);
        this.enqueue = layout.resolve(ENQUEUE);
    }

    @Override
    public void check(Arrival arrival) {
        table.check(List.of(arrival.identity()));
        if (arrival.isToStore()) {
            table.check(arrival.row().message());
        }
    }

    @Override
    public Map<Identity, Known> receive(Connection tx, Arrival arrival) throws SQLException {
        SqlServerChange.begin(tx, table);
        try (Query query = receive.on(tx)) {
            query.set("id", new NationalText(UuidV7.next().toString()))
                    .set("source", new NationalText(arrival.identity().source()))
                    .set("message_id", new NationalText(arrival.identity().messageId()))
                    .set("hash", arrival.hash());
            return read("receive", query, List.of(arrival));
        }
    }

    @Override
    public Map<Identity, Known> enqueue(Connection tx, List<Arrival> arrivals) throws SQLException {
        table.check(arrivals.stream().map(Arrival::identity).toList());
        SqlServerChange.begin(tx, table);
        JsonRows json = new JsonRows(table.byCodePoint());
        for (Arrival arrival : arrivals) {
            SqlServerEnqueue.add(json, arrival.row())
                    .text("source", arrival.identity().source())
                    .bytes("hash", arrival.hash());
        }
        List<MessageRow> locking = strict ? arrivals.stream().map(Arrival::row).toList() : List.of();
        try (Query query = enqueue.on(tx)) {
            SqlServerEnqueue.set(query, json, table, locking, patience);
            return read("enqueue", query, arrivals);
        }
    }

    private Map<Identity, Known> read(String what, Query query, List<Arrival> sent) throws SQLException {
        Map<Identity, byte[]> hashes = Known.hashes(sent);
        Map<Identity, Known> known = new HashMap<>();
        try (ResultSet row = query.rows()) {
            while (row.next()) {
                SqlServerLocks.check(what + " into " + table.name() + " failed", row.getInt("lock_code"));
                Known.read(row, hashes, known);
            }
        }
        if (!hashes.keySet().containsAll(known.keySet())) { // by its key another message is there
            throw table.refusalOfManySources();
        }
        return known;
    }
}
