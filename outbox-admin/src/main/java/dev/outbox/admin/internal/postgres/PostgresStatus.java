package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.StatusStatements;

/**
 * How a table is doing, on PostgreSQL. Open items are counted through the partial indexes; Done items have none.
 *
 * <p>A search with a limit has the order of its index, although the order does not matter. Without it the planner may assume
 * that a scan of the table finds a few rows soon, and read the whole table when they are at its end.
 */
final class PostgresStatus implements StatusStatements {
    @Override
    public String open() {
        return """
            SELECT topic, status, count(*) AS items, count(*) FILTER (WHERE due) AS due,
                (EXTRACT(EPOCH FROM statement_timestamp() - min(since) FILTER (WHERE due)) * 1000000)::bigint AS oldest
            FROM (
                SELECT {topic} AS topic, 0 AS status, true AS due, {created_on} AS since
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                UNION ALL
                SELECT {topic}, 0, {due_on} <= statement_timestamp(), {due_on}
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                UNION ALL
                SELECT {topic}, 0, COALESCE({due_on} <= statement_timestamp(), true), COALESCE({due_on}, {created_on})
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NOT NULL
                UNION ALL
                SELECT {topic}, 1, false, {created_on}
                FROM {table}
                WHERE {status} = 1
                UNION ALL
                SELECT {topic}, 3, false, {created_on}
                FROM {table}
                WHERE {status} = 3) AS open
            GROUP BY topic, status
            ORDER BY topic, status
            """;
    }

    @Override
    public String done() {
        return """
            SELECT {topic} AS topic, 2 AS status, count(*) AS items, 0 AS due, NULL::bigint AS oldest
            FROM {table}
            WHERE {status} = 2
            GROUP BY {topic}
            ORDER BY topic
            """;
    }

    /** A count as far as that is cheap, and the estimate of the catalog for the whole table. */
    @Override
    public String doneAbout() {
        return """
            SELECT count(*) AS counted,
                (SELECT reltuples::bigint FROM pg_catalog.pg_class WHERE oid = to_regclass(:table)) AS estimated
            FROM (
                SELECT FROM {consumers} AS c CROSS JOIN LATERAL (
                    SELECT FROM {table} WHERE {of_consumer} AND {status} = 2
                    ORDER BY {processed_on} LIMIT :most) AS of_one
                LIMIT :most) AS done
            """;
    }

    /** Records of received messages in an inbox took no time, so the percentiles leave them out. */
    @Override
    public String recent() {
        return """
            SELECT items, recent, span, took[1] AS p50, took[2] AS p95, took[3] AS p99
            FROM (
                SELECT count(*) AS items,
                    count(*) FILTER (WHERE processed_on > statement_timestamp() - interval '5 minutes') AS recent,
                    (EXTRACT(EPOCH FROM statement_timestamp() - min(processed_on)) * 1000000)::bigint AS span,
                    percentile_disc(ARRAY[0.5, 0.95, 0.99]) WITHIN GROUP (ORDER BY took)
                        FILTER (WHERE topic IS NOT NULL) AS took
                FROM (
                    SELECT done.processed_on, done.topic, done.took
                    FROM {consumers} AS c CROSS JOIN LATERAL (
                        SELECT {processed_on} AS processed_on, {topic} AS topic,
                            (EXTRACT(EPOCH FROM {processed_on} - {created_on}) * 1000000)::bigint AS took
                        FROM {table}
                        WHERE {of_consumer} AND {status} = 2
                        ORDER BY {processed_on} DESC LIMIT :most) AS done
                    ORDER BY done.processed_on DESC LIMIT :most) AS last) AS all_of_them
            """;
    }

    /**
     * Keys whose Dead head blocks them, and keys whose head backs off while others wait behind it. The backlog of a key and the
     * items that wait for a time are read up to a limit, because both may be as large as the table. Each status of a key is
     * read by itself, because only then the index has the order that the limit needs.
     */
    @Override
    public String blocked() {
        return """
            SELECT heads.*, LEAST(ready.items + leased.items, 1000) AS waiting
            FROM (
                (SELECT {work_item_id} AS id, {consumer} AS consumer, {message_key} AS message_key, {status} AS status,
                    {sequence} AS sequence, {attempt_count} AS attempt_count, {due_on} AS due_on, {last_error} AS last_error
                FROM {table}
                WHERE {status} = 3 AND {blocks_key} AND {message_key} IS NOT NULL
                ORDER BY {consumer}, {message_key} LIMIT :most)
                UNION ALL
                (SELECT later.*
                FROM {consumers} AS c CROSS JOIN LATERAL (
                    SELECT {work_item_id}, {consumer}, {message_key}, {status}, {sequence},
                        {attempt_count} AS attempts, {due_on} AS due, {last_error}
                    FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NOT NULL
                      AND {due_on} > statement_timestamp()
                    ORDER BY {due_on} LIMIT :sample) AS later
                WHERE later.attempts > 0
                ORDER BY later.due DESC LIMIT :most)) AS heads
            CROSS JOIN LATERAL (
                SELECT count(*) AS items
                FROM (
                    SELECT FROM {table} t
                    WHERE {same_consumer} AND t.{message_key} = heads.message_key AND t.{status} = 0
                      AND t.{sequence} <> heads.sequence
                    LIMIT 1000) AS few) AS ready
            CROSS JOIN LATERAL (
                SELECT count(*) AS items
                FROM (
                    SELECT FROM {table} t
                    WHERE {same_consumer} AND t.{message_key} = heads.message_key AND t.{status} = 1
                      AND t.{sequence} <> heads.sequence
                    LIMIT 1000) AS few) AS leased
            WHERE heads.status = 3
              OR ready.items + leased.items > 0
                AND NOT EXISTS (
                    SELECT FROM {table} t
                    WHERE {same_consumer} AND t.{message_key} = heads.message_key AND t.{status} = 0
                      AND t.{sequence} < heads.sequence)
                AND NOT EXISTS (
                    SELECT FROM {table} t
                    WHERE {same_consumer} AND t.{message_key} = heads.message_key AND t.{status} = 1
                      AND t.{sequence} < heads.sequence)
            ORDER BY heads.status DESC, waiting DESC, heads.sequence LIMIT :most
            """;
    }

    @Override
    public String blockingDead() {
        return """
            SELECT count(*) AS items
            FROM (
                SELECT FROM {table}
                WHERE {status} = 3 AND {blocks_key} AND {message_key} IS NOT NULL
                ORDER BY {consumer}, {message_key} LIMIT :most) AS heads
            """;
    }

    /** Counted through the partial indexes, each no further than {@code most}. */
    @Override
    public String backlog() {
        return """
            SELECT (
                SELECT count(*) FROM (
                    (SELECT 1 FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                    ORDER BY {consumer}, {priority}, {sequence} LIMIT :most)
                    UNION ALL
                    (SELECT 1 FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                    ORDER BY {consumer}, {priority}, {due_on} LIMIT :most)
                    UNION ALL
                    (SELECT 1 FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NOT NULL
                    ORDER BY {consumer}, {message_key}, {sequence} LIMIT :most)
                    LIMIT :most) AS waiting) AS ready,
                (SELECT count(*) FROM (
                    SELECT FROM {table} WHERE {status} = 1
                    ORDER BY {consumer}, {sequence} LIMIT :most) AS leased) AS processing,
                (SELECT count(*) FROM (
                    SELECT FROM {table} WHERE {status} = 3
                    ORDER BY {processed_on} LIMIT :most) AS given_up) AS dead
            """;
    }

    /** Of the items that have a key, only a limited number is read. */
    @Override
    public String oldestDue() {
        return """
            SELECT (EXTRACT(EPOCH FROM statement_timestamp() - min(since)) * 1000000)::bigint AS oldest
            FROM (
                SELECT never.since FROM {consumers} AS c CROSS JOIN generate_series(0, 2) AS band CROSS JOIN LATERAL (
                    SELECT {created_on} AS since FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = band
                    ORDER BY {sequence} LIMIT 1) AS never
                UNION ALL
                SELECT later.since FROM {consumers} AS c CROSS JOIN generate_series(0, 2) AS band CROSS JOIN LATERAL (
                    SELECT {due_on} AS since FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NULL AND {due_on} <= statement_timestamp()
                      AND {priority} = band
                    ORDER BY {due_on} LIMIT 1) AS later
                UNION ALL
                SELECT keyed.since FROM {consumers} AS c CROSS JOIN LATERAL (
                    SELECT {due_on} AS since FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NOT NULL
                      AND {due_on} <= statement_timestamp()
                    ORDER BY {due_on} LIMIT 1) AS keyed
                UNION ALL
                SELECT first.since FROM (
                    SELECT {created_on} AS since, {due_on} AS due FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NOT NULL
                    ORDER BY {consumer}, {message_key}, {sequence} LIMIT :most) AS first
                WHERE first.due IS NULL) AS waiting
            """;
    }

    @Override
    public String pollers() {
        return """
            SELECT poller, version, phase, started_on, seen_on, last_success_on, lease_ms, longest_delivery_ms,
                last_error_on, last_error,
                (EXTRACT(EPOCH FROM statement_timestamp() - seen_on) * 1000000)::bigint AS silent
            FROM {pollers}
            WHERE table_name = :table_name
            ORDER BY poller
            """;
    }

    /** A lease without an end counts too. */
    @Override
    public String stuck() {
        return """
            SELECT count(*) AS items,
                (EXTRACT(EPOCH FROM statement_timestamp() - min(locked_until)) * 1000000)::bigint AS oldest
            FROM (
                SELECT {locked_until} AS locked_until FROM {table}
                WHERE {status} = 1
                  AND ({locked_until} < statement_timestamp() - :stuck * interval '1 microsecond') IS NOT FALSE
                ORDER BY {consumer}, {sequence} LIMIT :most) AS leased
            """;
    }

    @Override
    public String unhandled() {
        return """
            SELECT waiting.topic, count(*) AS items, max(waiting.last_error) AS last_error,
                (EXTRACT(EPOCH FROM statement_timestamp() - min(waiting.since)) * 1000000)::bigint AS oldest
            FROM (
                SELECT never.* FROM {consumers} AS c CROSS JOIN generate_series(0, 2) AS band CROSS JOIN LATERAL (
                    SELECT {topic} AS topic, COALESCE({first_due_on}, {created_on}) AS since, {last_error} AS last_error
                    FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                      AND {priority} = band
                    ORDER BY {sequence} LIMIT :most) AS never
                UNION ALL
                SELECT later.* FROM {consumers} AS c CROSS JOIN generate_series(0, 2) AS band CROSS JOIN LATERAL (
                    SELECT {topic}, COALESCE({first_due_on}, {due_on}), {last_error}
                    FROM {table}
                    WHERE {of_consumer} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                      AND {priority} = band
                    ORDER BY {due_on} LIMIT :most) AS later
                UNION ALL
                (SELECT {topic}, COALESCE({first_due_on}, {due_on}, {created_on}), {last_error}
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NOT NULL
                ORDER BY {consumer}, {message_key}, {sequence} LIMIT :most)) AS waiting
            WHERE waiting.since < statement_timestamp() - :late * interval '1 microsecond'
              AND (waiting.last_error LIKE 'dev.outbox.UnknownTypeException%'
                OR waiting.topic NOT IN (SELECT {topic} FROM {table} WHERE {status} = 1 AND {topic} IS NOT NULL))
            GROUP BY waiting.topic
            ORDER BY waiting.topic
            """;
    }

    @Override
    public String oldestDone() {
        return """
            SELECT (EXTRACT(EPOCH FROM statement_timestamp() - min(done.processed_on)) * 1000000)::bigint AS oldest
            FROM {consumers} AS c CROSS JOIN LATERAL (
                SELECT {processed_on} AS processed_on FROM {table}
                WHERE {of_consumer} AND {status} = 2 AND {processed_on} IS NOT NULL
                ORDER BY {processed_on} LIMIT 1) AS done
            """;
    }

    @Override
    public String now() {
        return "SELECT clock_timestamp() AS now";
    }
}
