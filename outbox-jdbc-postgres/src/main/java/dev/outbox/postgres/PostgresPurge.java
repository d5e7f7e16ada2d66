package dev.outbox.postgres;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Sql;
import java.sql.SQLException;
import java.time.Duration;

/** Removes old Done rows, or old Dead ones, in small statements, one node at a time. */
final class PostgresPurge {
    static final int BATCH = 1_000;

    /** Beyond the buckets of keys, in the same lock space. */
    private static final int LOCK = 1 << 20;

    /**
     * The advisory lock lasts as long as the statement: whoever does not get it deletes nothing. Rows that
     * somebody holds are skipped, so purge waits for nobody and nobody long for purge. A locked row stays where it
     * is, so it is found by its place; an inbox has no other index that finds a record by one column.
     */
    static final String PURGE = """
            DELETE FROM {table}
            WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM {table}
                WHERE {mine} AND {done}
                  AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                  AND (SELECT pg_try_advisory_xact_lock(:lock_space, :lock))
                ORDER BY {processed_on}
                LIMIT :batch
                FOR UPDATE SKIP LOCKED))
              AND {still_done}
            """;

    /** A Dead row that blocks its key is kept: without it the key would go on as if nothing had happened. */
    static final String PURGE_DEAD = """
            DELETE FROM {table}
            WHERE ctid = ANY (ARRAY(
                SELECT ctid FROM {table}
                WHERE {mine} AND {status} = 3 AND NOT {blocks_key}
                  AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                  AND (SELECT pg_try_advisory_xact_lock(:lock_space, :lock))
                ORDER BY {processed_on}
                LIMIT :batch
                FOR UPDATE SKIP LOCKED))
              AND {status} = 3
            """;

    private final PostgresTable table;
    private final Connections connections;
    private final Duration olderThan;
    private final Sql purge;

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

    /** Removes one batch and answers its size; 0 if nothing is old enough or another node is at it. */
    int batch() {
        try (Borrowed borrowed = connections.autoCommitting();
                Query query = FreshPlan.of(purge, borrowed.connection())) {
            return query.set("older_than", olderThan)
                    .set("lock_space", table.lockSpace())
                    .set("lock", LOCK)
                    .set("batch", BATCH)
                    .update();
        } catch (SQLException e) {
            throw SqlFailure.of("purge of " + table.name() + " failed", e);
        }
    }
}
