package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.StatusStatements;

/** How a table is doing, on SQL Server; see PostgresStatus. */
final class SqlServerStatus implements StatusStatements {
    @Override
    public String open() {
        return """
            SELECT waiting.topic, waiting.status, COUNT_BIG(*) AS items, SUM(waiting.due) AS due,
                DATEDIFF_BIG(microsecond, MIN(CASE WHEN waiting.due = 1 THEN waiting.since END), SYSUTCDATETIME()) AS oldest
            FROM (
                SELECT {topic} AS topic, 0 AS status, 1 AS due, {created_on} AS since
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL
                UNION ALL
                SELECT {topic}, 0, CASE WHEN {due_on} <= SYSUTCDATETIME() THEN 1 ELSE 0 END, {due_on}
                FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                UNION ALL
                SELECT {topic}, 0, CASE WHEN {due_on} > SYSUTCDATETIME() THEN 0 ELSE 1 END,
                    COALESCE({due_on}, {created_on})
                FROM {table}
                WHERE {status} < 2 AND {status} = 0 AND {message_key} IS NOT NULL
                UNION ALL
                SELECT {topic}, 1, 0, {created_on}
                FROM {table}
                WHERE {status} = 1
                UNION ALL
                SELECT {topic}, 3, 0, {created_on}
                FROM {table}
                WHERE {status} = 3) waiting
            GROUP BY waiting.topic, waiting.status
            ORDER BY waiting.topic, waiting.status
            """;
    }

    @Override
    public String done() {
        return """
            SELECT {topic} AS topic, 2 AS status, COUNT_BIG(*) AS items, 0 AS due, CAST(NULL AS bigint) AS oldest
            FROM {table}
            WHERE {status} = 2
            GROUP BY {topic}
            ORDER BY {topic}
            """;
    }

    @Override
    public String doneAbout() {
        return """
            SELECT COUNT_BIG(*) AS counted, (
                SELECT SUM(p.rows) FROM sys.partitions p
                WHERE p.object_id = OBJECT_ID(:table) AND p.index_id < 2) AS estimated
            FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table} WHERE {status} = 2) done
            """;
    }

    /** Percentiles by rank, because not every edition has a function for them. */
    @Override
    public String recent() {
        return """
            SELECT COUNT_BIG(*) AS items,
                SUM(CASE WHEN ranked.processed_on > DATEADD(minute, -5, SYSUTCDATETIME()) THEN 1 ELSE 0 END) AS recent,
                DATEDIFF_BIG(microsecond, MIN(ranked.processed_on), SYSUTCDATETIME()) AS span,
                MIN(CASE WHEN ranked.place * 100 >= ranked.timed * 50 THEN ranked.took END) AS p50,
                MIN(CASE WHEN ranked.place * 100 >= ranked.timed * 95 THEN ranked.took END) AS p95,
                MIN(CASE WHEN ranked.place * 100 >= ranked.timed * 99 THEN ranked.took END) AS p99
            FROM (
                SELECT last.processed_on, last.took, COUNT(last.took) OVER () AS timed,
                    ROW_NUMBER() OVER (ORDER BY CASE WHEN last.took IS NULL THEN 1 ELSE 0 END, last.took) AS place
                FROM (
                    SELECT TOP (CAST(:most AS int)) {processed_on} AS processed_on, CASE WHEN {topic} IS NOT NULL
                        THEN DATEDIFF_BIG(microsecond, {created_on}, {processed_on}) END AS took
                    FROM {table}
                    WHERE {status} = 2
                    ORDER BY {processed_on} DESC) last) ranked
            """;
    }

    @Override
    public String blocked() {
        return """
            SELECT TOP (CAST(:most AS int)) heads.id, heads.consumer, heads.message_key, heads.status, heads.sequence,
                heads.attempt_count, heads.due_on, heads.last_error,
                CASE WHEN ready.items + leased.items > 1000 THEN 1000 ELSE ready.items + leased.items END AS waiting
            FROM (
                SELECT dead.*
                FROM (
                    SELECT TOP (CAST(:most AS int)) {work_item_id} AS id, {consumer} AS consumer,
                        {message_key} AS message_key, {exact_key} AS exact_key, {status} AS status, {sequence} AS sequence,
                        {attempt_count} AS attempt_count, CAST({due_on} AS datetimeoffset(7)) AS due_on,
                        {last_error} AS last_error
                    FROM {table}
                    WHERE {status} = 3 AND {blocks_key} = 1) dead
                UNION ALL
                SELECT failing.*
                FROM (
                    SELECT TOP (CAST(:most AS int)) later.*
                    FROM (
                        SELECT TOP (CAST(:sample AS int)) {work_item_id} AS id, {consumer} AS consumer,
                            {message_key} AS message_key, {exact_key} AS exact_key, {status} AS status,
                            {sequence} AS sequence, {attempt_count} AS attempt_count,
                            CAST({due_on} AS datetimeoffset(7)) AS due_on, {last_error} AS last_error
                        FROM {table}
                        WHERE {status} = 0 AND {message_key} IS NOT NULL AND {due_on} > SYSUTCDATETIME()
                        ORDER BY {due_on}) later
                    WHERE later.attempt_count > 0
                    ORDER BY later.due_on DESC) failing) heads
            CROSS APPLY (
                SELECT COUNT(*) AS items, MIN(few.place) AS first
                FROM (
                    SELECT TOP (1000) t.{sequence} AS place
                    FROM {table} t
                    WHERE {same_consumer} AND t.{exact_key} = heads.exact_key AND t.{status} < 2 AND t.{status} = 0
                      AND t.{message_key} IS NOT NULL AND t.{sequence} <> heads.sequence
                    ORDER BY t.{sequence}) few) ready
            CROSS APPLY (
                SELECT COUNT(*) AS items, MIN(few.place) AS first
                FROM (
                    SELECT TOP (1000) t.{sequence} AS place
                    FROM {table} t
                    WHERE {same_consumer} AND t.{exact_key} = heads.exact_key AND t.{status} < 2 AND t.{status} = 1
                      AND t.{message_key} IS NOT NULL AND t.{sequence} <> heads.sequence
                    ORDER BY t.{sequence}) few) leased
            WHERE heads.status = 3
              OR ready.items + leased.items > 0 AND COALESCE(ready.first, heads.sequence) >= heads.sequence
                AND COALESCE(leased.first, heads.sequence) >= heads.sequence
            ORDER BY heads.status DESC, waiting DESC, heads.sequence
            """;
    }

    @Override
    public String blockingDead() {
        return """
            SELECT COUNT_BIG(*) AS items
            FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table} WHERE {status} = 3 AND {blocks_key} = 1) heads
            """;
    }

    @Override
    public String backlog() {
        return """
            SELECT (
                SELECT COUNT_BIG(*)
                FROM (
                    SELECT TOP (CAST(:most AS int)) waiting.place
                    FROM (
                        SELECT unkeyed.place
                        FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table}
                            WHERE {status} = 0 AND {message_key} IS NULL) unkeyed
                        UNION ALL
                        SELECT keyed.place
                        FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table}
                            WHERE {status} < 2 AND {status} = 0 AND {message_key} IS NOT NULL) keyed) waiting) counted)
                    AS ready,
                (SELECT COUNT_BIG(*)
                FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table} WHERE {status} = 1) leased)
                    AS processing,
                (SELECT COUNT_BIG(*)
                FROM (SELECT TOP (CAST(:most AS int)) {sequence} AS place FROM {table} WHERE {status} = 3) dead) AS dead
            """;
    }

    @Override
    public String oldestDue() {
        return """
            SELECT DATEDIFF_BIG(microsecond, MIN(waiting.since), SYSUTCDATETIME()) AS oldest
            FROM (
                SELECT never.since
                FROM (SELECT TOP (CAST(:most AS int)) {created_on} AS since FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL ORDER BY {sequence}) never
                UNION ALL
                SELECT MIN({due_on}) FROM {table}
                WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL AND {due_on} <= SYSUTCDATETIME()
                UNION ALL
                SELECT MIN({due_on}) FROM {table}
                WHERE {status} = 0 AND {message_key} IS NOT NULL AND {due_on} IS NOT NULL AND {due_on} <= SYSUTCDATETIME()
                UNION ALL
                SELECT keyed.since
                FROM (SELECT TOP (CAST(:most AS int)) {created_on} AS since, {due_on} AS due FROM {table}
                    WHERE {status} < 2 AND {status} = 0 AND {message_key} IS NOT NULL) keyed
                WHERE keyed.due IS NULL) waiting
            """;
    }

    @Override
    public String pollers() {
        return """
            SELECT Poller AS poller, Version AS version, Phase AS phase,
                CAST(StartedOn AS datetimeoffset(7)) AS started_on,
                CAST(LastSuccessOn AS datetimeoffset(7)) AS last_success_on, LeaseMs AS lease_ms,
                LongestDeliveryMs AS longest_delivery_ms, CAST(LastErrorOn AS datetimeoffset(7)) AS last_error_on,
                LastError AS last_error,
                DATEDIFF_BIG(microsecond, SeenOn, SYSUTCDATETIME()) AS silent
            FROM {pollers}
            WHERE TableName = CAST(:table_name AS nvarchar(127))
            ORDER BY Poller
            """;
    }

    @Override
    public String stuck() {
        return """
            SELECT COUNT_BIG(*) AS items, DATEDIFF_BIG(microsecond, MIN(leased.locked_until), SYSUTCDATETIME()) AS oldest
            FROM (
                SELECT TOP (CAST(:most AS int)) {locked_until} AS locked_until FROM {table}
                WHERE {status} = 1 AND ({locked_until} IS NULL OR {locked_until}
                    < DATEADD(second, -CAST(CAST(:stuck AS bigint) / 1000000 AS int), SYSUTCDATETIME()))) leased
            """;
    }

    @Override
    public String unhandled() {
        return """
            SELECT waiting.topic, COUNT_BIG(*) AS items, MAX(waiting.last_error) AS last_error,
                DATEDIFF_BIG(microsecond, MIN(waiting.since), SYSUTCDATETIME()) AS oldest
            FROM (
                SELECT never.topic, never.since, never.last_error
                FROM (SELECT TOP (CAST(:most AS int)) {topic} AS topic, COALESCE({first_due_on}, {created_on}) AS since,
                        {last_error} AS last_error
                    FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NULL ORDER BY {sequence}) never
                UNION ALL
                SELECT later.topic, later.since, later.last_error
                FROM (SELECT TOP (CAST(:most AS int)) {topic} AS topic, COALESCE({first_due_on}, {due_on}) AS since,
                        {last_error} AS last_error
                    FROM {table}
                    WHERE {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL ORDER BY {due_on}) later
                UNION ALL
                SELECT keyed.topic, keyed.since, keyed.last_error
                FROM (SELECT TOP (CAST(:most AS int)) {topic} AS topic,
                        COALESCE({first_due_on}, {due_on}, {created_on}) AS since, {last_error} AS last_error
                    FROM {table}
                    WHERE {status} < 2 AND {status} = 0 AND {message_key} IS NOT NULL) keyed) waiting
            WHERE waiting.since < DATEADD(second, -CAST(CAST(:late AS bigint) / 1000000 AS int), SYSUTCDATETIME())
              AND (waiting.last_error LIKE N'dev.outbox.UnknownTypeException%'
                OR waiting.topic NOT IN (SELECT {topic} FROM {table} WHERE {status} = 1 AND {topic} IS NOT NULL))
            GROUP BY waiting.topic
            ORDER BY waiting.topic
            """;
    }

    @Override
    public String oldestDone() {
        return """
            SELECT DATEDIFF_BIG(microsecond, MIN({processed_on}), SYSUTCDATETIME()) AS oldest
            FROM {table}
            WHERE {status} = 2 AND {processed_on} IS NOT NULL
            """;
    }

    @Override
    public String now() {
        return "SELECT CAST(SYSUTCDATETIME() AS datetimeoffset(7)) AS now";
    }
}
