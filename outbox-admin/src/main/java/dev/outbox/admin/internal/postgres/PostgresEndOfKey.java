package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.DeadLetterStatements;

/** How requeued items that were skipped go to the end of their keys. */
final class PostgresEndOfKey implements DeadLetterStatements.EndOfKeyStatements {
    /**
     * The locks that a STRICT enqueue of these keys takes, in the same order; see PostgresKeyLocks. A transaction that
     * stored one of the keys and stays open must not stop the others for long, so the wait is bounded.
     */
    @Override
    public String lockKeys() {
        return """
            SELECT set_config('lock_timeout', CASE
                    WHEN current_setting('lock_timeout')::interval BETWEEN interval '1 ms' AND interval '10 s'
                    THEN current_setting('lock_timeout') ELSE '10s' END, true) IS NOT NULL
                AND pg_advisory_xact_lock_shared(:entering) IS NOT NULL
                AND (SELECT count(pg_advisory_xact_lock(lock)) FROM unnest(:locks::bigint[]) AS lock) > 0
                AND pg_advisory_xact_lock_shared(:holding) IS NOT NULL AS taken
            """;
    }

    /** Draws a new sequence. One by one, because an update of several rows promises no order in which they draw. */
    @Override
    public String moveToEnd() {
        return """
            UPDATE {table} SET {sequence} = DEFAULT
            WHERE {work_item_id} = :id::uuid AND {topic} IS NOT NULL
            """;
    }
}
