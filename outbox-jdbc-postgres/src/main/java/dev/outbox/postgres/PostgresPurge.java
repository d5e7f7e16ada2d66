package dev.outbox.postgres;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.Hash;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/** Removes old Done rows, or old Dead ones, in small statements, one node at a time. */
final class PostgresPurge {
    static final int BATCH = 1_000;

    /**
     * The advisory lock lasts as long as the statement: whoever does not get it deletes nothing. Rows that
     * somebody holds are skipped, so purge waits for nobody and nobody long for purge. A locked row stays where it
     * is, so it is found by its place; an inbox has no other index that finds a record by one column.
     *
     * <p>A batch begins where the one before ended. While somebody holds an old snapshot, the index keeps an entry of
     * every row that is gone, and from the beginning each batch would walk over all of them.
     */
    static final String PURGE = """
            WITH gone AS (
                DELETE FROM {table}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {table}
                    WHERE {mine} AND {done}
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                      AND {processed_on} >= :begin::timestamptz
                      AND (SELECT pg_try_advisory_xact_lock(:lock))
                    ORDER BY {processed_on}
                    LIMIT :batch
                    FOR UPDATE SKIP LOCKED))
                  AND {still_done}
                RETURNING {processed_on} AS ended)
            SELECT count(*) AS removed, max(ended)::text AS last FROM gone
            """;

    /** A Dead row that blocks its key is kept: without it the key would go on as if nothing had happened. */
    static final String PURGE_DEAD = """
            WITH gone AS (
                DELETE FROM {table}
                WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM {table}
                    WHERE {mine} AND {status} = 3 AND NOT {blocks_key}
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                      AND {processed_on} >= :begin::timestamptz
                      AND (SELECT pg_try_advisory_xact_lock(:lock))
                    ORDER BY {processed_on}
                    LIMIT :batch
                    FOR UPDATE SKIP LOCKED))
                  AND {status} = 3
                RETURNING {processed_on} AS ended)
            SELECT count(*) AS removed, max(ended)::text AS last FROM gone
            """;

    /** Where the first batch begins. */
    private static final String EARLIEST = "-infinity";

    private final PostgresTable table;
    private final Connections connections;
    private final Duration olderThan;
    private final Sql purge;

    /** When the last row ended that the batch before removed, as the database writes it. */
    private volatile String begin = EARLIEST;

    private PostgresPurge(PostgresTable table, Connections connections, Duration olderThan, String statement) {
        this.table = table;
        this.connections = connections;
        this.olderThan = olderThan;
        this.purge = table.layout().resolve(statement);
    }

    static PostgresPurge ofDone(PostgresTable table, Connections connections, Duration olderThan) {
        return new PostgresPurge(table, connections, olderThan, PURGE);
    }

    static PostgresPurge ofDead(PostgresTable table, Connections connections, Duration olderThan) {
        return new PostgresPurge(table, connections, olderThan, PURGE_DEAD);
    }

    /** The same on every node. */
    static long lock(PostgresTable table) {
        return Hash.of(table.name() + " purge");
    }

    /** Removes one batch and answers its size; 0 if nothing is old enough or another node is at it. */
    int batch(Duration limit) {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit);
                Query query = FreshPlan.of(purge, borrowed.connection())) {
            query.set("older_than", olderThan)
                    .set("lock", lock(table))
                    .set("batch", BATCH)
                    .set("begin", begin);
            try (ResultSet row = query.rows()) {
                row.next();
                int removed = row.getInt("removed");
                // Skipped rows are left for the next time, which begins at the beginning.
                begin = removed < BATCH ? EARLIEST : row.getString("last");
                return removed;
            }
        } catch (SQLException e) {
            throw SqlFailure.of("purge of " + table.name() + " failed", e);
        }
    }
}
