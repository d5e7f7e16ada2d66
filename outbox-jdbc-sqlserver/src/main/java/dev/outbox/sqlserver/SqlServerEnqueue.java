package dev.outbox.sqlserver;

import dev.outbox.Message;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.enqueue.EnqueueStatements;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * Stores messages on the caller's connection, one round trip per call.
 *
 * <p>An id that is there already is no error. The insert leaves out the ids that it can see. If another transaction stores
 * the same id in between, the insert fails with 2627 (or 2601), and the batch tries it again; while XACT_ABORT is off, this
 * error does not end the transaction. The server restores XACT_ABORT at the end of the batch.
 *
 * <p>STRICT order: the locks are taken before the sequences are drawn; otherwise a transaction that waited would have drawn
 * too early. The locks are {@link KeyBuckets}, taken in their order and held to the end of the caller's transaction, which
 * must be open for that: reading the table opens it if the driver has only announced it. Sequences are drawn into a table of
 * their own and assigned by size, because no statement promises to draw them in the order of its rows.
 */
final class SqlServerEnqueue implements EnqueueStatements {
    /** How often a batch tries again at most. Each time another transaction must have stored the same id in between. */
    static final int TRIES = 10;

    /** How the batches of outbox and inbox begin: they read the messages, and lock their keys. */
    static final String TAKE_LOCKS = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @tries int = 0, @done bit = 0, @lock_code int = 0,
                @bucket int, @rows int, @resource nvarchar(255), @patience int = :patience,
                @bytes varbinary(max) = :bytes;
            DECLARE @texts nvarchar(max) = :texts;
            DECLARE @messages TABLE (Position int NOT NULL PRIMARY KEY, Id uniqueidentifier NOT NULL,
                DueOn datetime2(7) NULL, Priority smallint NOT NULL, Topic nvarchar(255) NOT NULL,
                MessageKey nvarchar(255) NULL, MessageId nvarchar(255) COLLATE Latin1_General_100_BIN2 NULL,
                CorrelationId nvarchar(255) NULL, TenantId nvarchar(255) NULL, ContentType nvarchar(255) NULL,
                Headers nvarchar(max) NULL, Payload nvarchar(max) NULL, PayloadBytes varbinary(max) NULL,
                Source nvarchar(255) COLLATE Latin1_General_100_BIN2 NULL, Hash varbinary(32) NULL,
                Sequence bigint NULL, Stored bit NOT NULL);
            DECLARE @buckets TABLE (Bucket int NOT NULL PRIMARY KEY);
            DECLARE @drawn TABLE (Sequence bigint NOT NULL PRIMARY KEY);
            INSERT INTO @messages (Position, Id, DueOn, Priority, Topic, MessageKey, MessageId, CorrelationId,
                TenantId, ContentType, Headers, Payload, PayloadBytes, Source, Hash, Stored)
            SELECT j.n, j.id, COALESCE(j.due, DATEADD(millisecond, CAST(j.due_in % 86400000 AS int),
                    DATEADD(day, CAST(j.due_in / 86400000 AS int), @now))),
                j.priority, SUBSTRING(x.texts, j.topic_at, j.topic_length),
                SUBSTRING(x.texts, j.key_at, j.key_length),
                SUBSTRING(x.texts, j.message_id_at, j.message_id_length),
                SUBSTRING(x.texts, j.correlation_id_at, j.correlation_id_length),
                SUBSTRING(x.texts, j.tenant_id_at, j.tenant_id_length),
                SUBSTRING(x.texts, j.content_type_at, j.content_type_length),
                SUBSTRING(x.texts, j.headers_at, j.headers_length),
                SUBSTRING(x.texts, j.payload_at, j.payload_length),
                SUBSTRING(@bytes, j.bytes_at, j.bytes_length), SUBSTRING(x.texts, j.source_at, j.source_length),
                CAST(SUBSTRING(@bytes, j.hash_at, j.hash_length) AS varbinary(32)), 0
            FROM OPENJSON(:messages) WITH (n int '$.n', id uniqueidentifier '$.id', due datetime2(7) '$.due',
                due_in bigint '$.due_in', priority smallint '$.priority',
                topic_at int '$.topic_at', topic_length int '$.topic_length',
                key_at int '$.key_at', key_length int '$.key_length',
                message_id_at int '$.message_id_at', message_id_length int '$.message_id_length',
                correlation_id_at int '$.correlation_id_at', correlation_id_length int '$.correlation_id_length',
                tenant_id_at int '$.tenant_id_at', tenant_id_length int '$.tenant_id_length',
                content_type_at int '$.content_type_at', content_type_length int '$.content_type_length',
                headers_at int '$.headers_at', headers_length int '$.headers_length',
                payload_at int '$.payload_at', payload_length int '$.payload_length',
                source_at int '$.source_at', source_length int '$.source_length',
                bytes_at int '$.bytes_at', bytes_length int '$.bytes_length',
                hash_at int '$.hash_at', hash_length int '$.hash_length') j
            CROSS JOIN (SELECT @texts COLLATE Latin1_General_100_BIN2 AS texts) x;
            INSERT INTO @buckets (Bucket) SELECT DISTINCT CAST(value AS int) FROM OPENJSON(:buckets);
            SELECT @rows = COUNT(*) FROM {table} WHERE {no_row};
            IF @patience < 0 OR @@LOCK_TIMEOUT BETWEEN 0 AND @patience SET @patience = @@LOCK_TIMEOUT;
            SELECT @bucket = MIN(Bucket) FROM @buckets;
            WHILE @bucket IS NOT NULL AND @lock_code >= 0
            BEGIN
                SET @resource = CONCAT(:lock_space, @bucket);
                EXEC @lock_code = sp_getapplock @Resource = @resource, @LockMode = N'Exclusive',
                    @LockOwner = N'Transaction', @LockTimeout = @patience;
                SELECT @bucket = MIN(Bucket) FROM @buckets WHERE Bucket > @bucket;
            END;
            IF @lock_code >= 0
            BEGIN
                INSERT INTO @drawn (Sequence) SELECT {next_sequence} FROM @messages;
                UPDATE m SET Sequence = d.Sequence
                FROM @messages m
                JOIN (SELECT Sequence, ROW_NUMBER() OVER (ORDER BY Sequence) - 1 AS Position FROM @drawn) d
                  ON d.Position = m.Position;
            END;
            """;

    static final String INSERT = """
            SET NOCOUNT ON;
            SET XACT_ABORT OFF;
            %1$s
            WHILE @done = 0 AND @lock_code >= 0
            BEGIN TRY
                UPDATE m SET Stored = 1 FROM @messages m
                WHERE NOT EXISTS (
                    SELECT 1 FROM {table} t WITH (READCOMMITTEDLOCK) WHERE t.{work_item_id} = m.Id);
                INSERT INTO {table} ({sequence:}, {work_item_id:}, {created_on:}, {due_on:}, {status:}, {attempt_count:},
                    {priority:}, {topic:}, {message_key:}, {message_id:}, {correlation_id:}, {tenant_id:}, {content_type:},
                    {headers:}, {payload:}, {payload_bytes:})
                SELECT {sequence: m.Sequence}, {work_item_id: m.Id}, {created_on: @now}, {due_on: m.DueOn}, {status: 0},
                    {attempt_count: 0}, {priority: m.Priority}, {topic: m.Topic}, {message_key: m.MessageKey},
                    {message_id: m.MessageId}, {correlation_id: m.CorrelationId}, {tenant_id: m.TenantId},
                    {content_type: m.ContentType}, {headers: m.Headers}, {payload: m.Payload},
                    {payload_bytes: m.PayloadBytes}
                FROM @messages m WHERE m.Stored = 1;
                SET @done = 1;
            END TRY
            BEGIN CATCH
                SET @tries = @tries + 1;
                IF ERROR_NUMBER() NOT IN (2601, 2627) OR XACT_STATE() <> 1 OR @tries >= %2$d
                BEGIN;
                    THROW;
                END;
                UPDATE @messages SET Stored = 0;
            END CATCH;
            SELECT @lock_code AS lock_code, LOWER(CAST(m.Id AS nvarchar(36))) AS id
            FROM (SELECT 1 AS one) once LEFT JOIN @messages m ON m.Stored = 1 AND once.one = 1;
            """.formatted(TAKE_LOCKS, TRIES);

    private final SqlServerTable table;
    private final boolean strict;
    private final Sql insert;

    /** @param strict whether it locks the keys of what it stores */
    SqlServerEnqueue(SqlServerTable table, boolean strict) {
        this.table = table;
        this.strict = strict;
        this.insert = table.layout().resolve(INSERT);
    }

    @Override
    public MessageRow fit(MessageRow row) {
        table.check(row.message());
        return table.phase() == Phase.CLEAN ? row : row.withMessageId();
    }

    @Override
    public Set<UUID> insert(Connection tx, List<MessageRow> rows) throws SQLException {
        Map<UUID, MessageRow> unique = new LinkedHashMap<>();
        rows.forEach(row -> unique.putIfAbsent(row.id(), row));
        List<MessageRow> sent = List.copyOf(unique.values());
        JsonRows json = new JsonRows(table.byCodePoint());
        sent.forEach(row -> add(json, row));
        SqlServerChange.begin(tx, table);
        Set<UUID> stored = new HashSet<>();
        try (Query query = insert.on(tx)) {
            set(query, json, table, strict ? sent : List.of(), -1);
            try (ResultSet answer = query.rows()) {
                while (answer.next()) {
                    SqlServerLocks.check("enqueue into " + table.name() + " failed", answer.getInt("lock_code"));
                    String id = answer.getString("id");
                    if (id != null) {
                        stored.add(UUID.fromString(id));
                    }
                }
            }
        }
        return stored;
    }

    /**
     * Sets what {@link #TAKE_LOCKS} reads.
     *
     * @param locking the rows whose keys are locked
     * @param patience for each lock, in milliseconds; -1 for as long as the caller's connection would wait
     */
    static void set(Query query, JsonRows json, SqlServerTable table, List<MessageRow> locking, int patience)
            throws SQLException {
        query.set("messages", json.json())
                .set("texts", json.texts())
                .set("bytes", json.bytes())
                .set("buckets", JsonRows.numbers(KeyBuckets.of(locking)))
                .set("lock_space", new NationalText(table.lockSpace()))
                .set("patience", patience);
    }

    /** The fields of a message as the batch reads them. */
    static JsonRows add(JsonRows json, MessageRow row) {
        Message message = row.message();
        return json.row()
                .set("id", row.id())
                .set("due", message.due() == null ? null : SqlServerMarks.text(message.due()))
                .set("due_in", message.dueIn() == null ? null : message.dueIn().toMillis())
                .set("priority", message.priority().code())
                .text("topic", message.topic())
                .text("key", message.key())
                .text("message_id", message.id())
                .text("correlation_id", message.correlationId())
                .text("tenant_id", message.tenantId())
                .text("content_type", message.contentType())
                .text("headers", row.headers())
                .text("payload", row.text())
                .bytes("bytes", row.bytes());
    }
}
