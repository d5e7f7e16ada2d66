package dev.outbox.jdbc.internal.postgres;

import dev.outbox.jdbc.internal.sql.Query;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Removes old rows of a PostgreSQL table in small statements, on behalf of a poller or of an operator. */
public final class PostgresPurgeBatches {
    /**
     * The advisory lock lasts as long as the statement: whoever does not get it deletes nothing. Rows that somebody holds
     * are skipped, so purge waits for nobody and nobody long for purge. A locked row stays where it is, so it is found by its
     * place; an inbox has no other index that finds a record by one column.
     *
     * <p>A batch begins where the one before ended. While somebody holds an old snapshot, the index keeps an entry of
     * every row that is gone, and from the beginning each batch would walk over all of them.
     */
    public static final String DONE = """
            WITH gone AS (
                DELETE FROM {table}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {table}
                    WHERE {mine} AND {done}
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                      AND {processed_on} >= :begin::timestamptz
                      AND (SELECT COALESCE(pg_try_advisory_xact_lock(:lock::bigint), true))
                    ORDER BY {processed_on}
                    LIMIT :batch
                    FOR UPDATE SKIP LOCKED))
                  AND {still_done}
                RETURNING {processed_on} AS ended)
            SELECT count(*) AS removed, max(ended)::text AS last FROM gone
            """;

    /** A Dead row that blocks its key is kept: without it the key would go on as if nothing had happened. */
    public static final String DEAD = """
            WITH gone AS (
                DELETE FROM {table}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {table}
                    WHERE {mine} AND {status} = 3 AND NOT {blocks_key}
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                      AND {processed_on} >= :begin::timestamptz
                      AND (SELECT COALESCE(pg_try_advisory_xact_lock(:lock::bigint), true))
                    ORDER BY {processed_on}
                    LIMIT :batch
                    FOR UPDATE SKIP LOCKED))
                  AND {status} = 3
                RETURNING {processed_on} AS ended)
            SELECT count(*) AS removed, max(ended)::text AS last FROM gone
            """;

    /** Where the first batch begins. */
    private static final String EARLIEST = "-infinity";

    /** When the last row ended that the batch before removed, as the database writes it. */
    private volatile String begin = EARLIEST;

    /**
     * Removes one batch and answers its size; 0 if nothing is old enough or another node has the lock.
     *
     * @param query one of the statements above
     * @param lock of which only one transaction at a time removes rows; null if there may be others
     */
    public int remove(Query query, Duration olderThan, @Nullable Long lock, int batch) throws SQLException {
        query.set("older_than", olderThan).set("lock", lock).set("batch", batch).set("begin", begin);
        try (ResultSet row = query.rows()) {
            row.next();
            int removed = row.getInt("removed");
            // Skipped rows are left for the next time, which begins at the beginning.
            begin = removed < batch ? EARLIEST : row.getString("last");
            return removed;
        }
    }
}
