package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.DeadLetterStatements;
import java.util.Optional;

/**
 * Dead letters on PostgreSQL. The index {@code _dead} orders them by the time when they died; those that died before the
 * migration, which left no time, count as the oldest. Rows that another transaction has locked are skipped. A row that is locked
 * here does not move, so the next step finds it by its place.
 */
final class PostgresDeadLetters implements DeadLetterStatements {
    private static final String FILTER = """
            (:topic::text IS NULL OR {topic} = :topic) AND (:key::text IS NULL OR {message_key} = :key)
                      AND (:tenant::text IS NULL OR {tenant_id} = :tenant)
                      AND (:error::text IS NULL OR strpos(lower({last_error}), lower(:error)) > 0)""";

    /** Apart from the other conditions, because the index serves it. */
    private static final String LATEST = """
            COALESCE(statement_timestamp() - :older_than::bigint * interval '1 microsecond', 'infinity')""";

    @Override
    public String newest() {
        return """
            SELECT %1$s
            FROM {table}
            WHERE {status} = 3 AND ({processed_on}, {work_item_id}) < (LEAST(:at, %3$s), :id::uuid)
              AND %2$s
            ORDER BY {processed_on} DESC, {work_item_id} DESC LIMIT :size
            """.formatted(PostgresItems.COLUMNS, FILTER, LATEST);
    }

    @Override
    public String newestUnknown() {
        return """
            SELECT %1$s
            FROM {table}
            WHERE {status} = 3 AND {processed_on} IS NULL AND {work_item_id} < :id::uuid
              AND %2$s
            ORDER BY {work_item_id} DESC LIMIT :size
            """.formatted(PostgresItems.COLUMNS, FILTER);
    }

    @Override
    public String oldest() {
        return """
            SELECT * FROM (
                (SELECT %1$s
                FROM {table}
                WHERE {status} = 3 AND ({processed_on}, {work_item_id}) > (:at, :id::uuid)
                  AND {processed_on} < %3$s
                  AND %2$s
                ORDER BY {processed_on}, {work_item_id} LIMIT :size)
                UNION ALL
                (SELECT %1$s
                FROM {table}
                WHERE {status} = 3 AND {processed_on} IS NULL AND {work_item_id} > :unknown_id::uuid
                  AND %2$s
                ORDER BY {work_item_id} LIMIT :size)) AS dead
            ORDER BY processed_on NULLS FIRST, id LIMIT :size
            """.formatted(PostgresItems.COLUMNS, FILTER, LATEST);
    }

    @Override
    public String count() {
        return """
            SELECT count(*) AS found, count(*) FILTER (WHERE requeueable) AS requeueable
            FROM (
                (SELECT {topic} IS NOT NULL AND (:window::bigint IS NULL
                    OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond') AS requeueable
                FROM {table}
                WHERE {status} = 3 AND {processed_on} < %2$s
                  AND %1$s
                ORDER BY {processed_on} LIMIT :most)
                UNION ALL
                (SELECT {topic} IS NOT NULL AND (:window::bigint IS NULL
                    OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond')
                FROM {table}
                WHERE {status} = 3 AND {processed_on} IS NULL
                  AND %1$s
                ORDER BY {work_item_id} LIMIT :most)
                LIMIT :most) AS dead
            """.formatted(FILTER, LATEST);
    }

    /**
     * Each item gets a due time, so that no low-water mark of a poller hides it, and its age counts from there. The item that
     * goes first in its key is due first. The answer has the same order, and tells which items go to the end of their key: those
     * that were skipped. An item that still blocks its key is the first of it.
     */
    @Override
    public String requeue() {
        return """
            WITH chosen AS MATERIALIZED (
                SELECT ctid AS place, {sequence} AS sequence, {attempt_count} AS attempts,
                    {message_key} IS NOT NULL AND NOT {blocks_key} AS moves
                FROM {table}
                WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {status} = 3 AND {topic} IS NOT NULL
                  AND (:window::bigint IS NULL
                    OR {first_seen_on} >= statement_timestamp() - :window * interval '1 microsecond')
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED),
            numbered AS (
                SELECT place, attempts, moves, row_number() OVER (ORDER BY moves, sequence) - 1 AS number FROM chosen),
            requeued AS (
                UPDATE {table} t SET {status} = 0, {attempt_count} = 0, {processed_on} = NULL, {blocks_key} = false,
                    {first_due_on} = NULL, {due_on} = statement_timestamp()
                        + (:delay + :spacing * (:before + numbered.number)) * interval '1 microsecond'
                FROM numbered
                WHERE t.ctid = numbered.place AND t.{status} = 3
                RETURNING t.{work_item_id} AS id, t.{topic} AS topic, t.{message_key} AS message_key,
                    {consumer} AS consumer, {source} AS source, t.{message_id} AS message_id,
                    numbered.attempts, numbered.moves, numbered.number, t.{last_error} AS last_error,
                    t.{due_on} AS due_on),
            audited AS (
                INSERT INTO {audit} (action, actor, reason, table_name, work_item_id, topic, message_key, consumer, source,
                    message_id, attempt_count, last_error, due_on)
                SELECT 'requeue', :actor, :reason, :table_name, id, topic, message_key, consumer, source, message_id,
                    attempts, last_error, due_on
                FROM requeued)
            SELECT id, moves FROM requeued ORDER BY number
            """;
    }

    @Override
    public Optional<EndOfKeyStatements> endOfKey() {
        return Optional.of(new PostgresEndOfKey());
    }

    @Override
    public String discardOutbox() {
        return """
            WITH chosen AS MATERIALIZED (
                SELECT ctid AS place
                FROM {table}
                WHERE {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[]) AND {status} = 3
                ORDER BY {sequence}
                FOR UPDATE SKIP LOCKED),
            discarded AS (
                DELETE FROM {table} t
                USING chosen
                WHERE t.ctid = chosen.place AND t.{status} = 3
                RETURNING t.{work_item_id} AS id, t.{topic} AS topic, t.{message_key} AS message_key,
                    {consumer} AS consumer, {source} AS source, t.{message_id} AS message_id,
                    t.{attempt_count} AS attempts, t.{last_error} AS last_error)
            INSERT INTO {audit} (action, actor, reason, table_name, work_item_id, topic, message_key, consumer, source,
                message_id, attempt_count, last_error)
            SELECT 'discard', :actor, :reason, :table_name, id, topic, message_key, consumer, source, message_id,
                attempts, last_error
            FROM discarded
            RETURNING work_item_id AS id
            """;
    }

    /**
     * Without its record, a redelivered message would have its effect. So the item stays as the record of a received message,
     * without its content, until the retention is over. No index has records without a topic by their id, so all are found by
     * the time when they died.
     */
    @Override
    public String discardInbox() {
        return """
            WITH chosen AS MATERIALIZED (
                SELECT ctid AS place, {topic} AS topic, {message_key} AS message_key
                FROM {table}
                WHERE {status} = 3 AND ({processed_on} BETWEEN :first AND :last OR {processed_on} IS NULL)
                  AND {work_item_id} = ANY (string_to_array(:ids, ',')::uuid[])
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED),
            discarded AS (
                UPDATE {table} t SET {status} = 2, {processed_on} = statement_timestamp(), {blocks_key} = false,
                    {topic} = NULL, {message_key} = NULL, {headers} = NULL, {payload} = NULL, {payload_bytes} = NULL
                FROM chosen
                WHERE t.ctid = chosen.place AND t.{status} = 3
                RETURNING t.{work_item_id} AS id, chosen.topic, chosen.message_key,
                    {consumer} AS consumer, {source} AS source, t.{message_id} AS message_id,
                    t.{attempt_count} AS attempts, t.{last_error} AS last_error)
            INSERT INTO {audit} (action, actor, reason, table_name, work_item_id, topic, message_key, consumer, source,
                message_id, attempt_count, last_error)
            SELECT 'discard', :actor, :reason, :table_name, id, topic, message_key, consumer, source, message_id,
                attempts, last_error
            FROM discarded
            RETURNING work_item_id AS id
            """;
    }
}
