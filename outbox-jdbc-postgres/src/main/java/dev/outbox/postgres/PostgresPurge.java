package dev.outbox.postgres;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.postgres.PostgresPurgeBatches;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.Hash;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.SQLException;
import java.time.Duration;

/** Removes old Done rows, or old Dead ones, in small statements, one node at a time. */
final class PostgresPurge {
    static final int BATCH = 1_000;

    private final PostgresTable table;
    private final Connections connections;
    private final Duration olderThan;
    private final Sql purge;
    private final PostgresPurgeBatches batches = new PostgresPurgeBatches();

    private PostgresPurge(PostgresTable table, Connections connections, Duration olderThan, String statement) {
        this.table = table;
        this.connections = connections;
        this.olderThan = olderThan;
        this.purge = table.layout().resolve(statement);
    }

    static PostgresPurge ofDone(PostgresTable table, Connections connections, Duration olderThan) {
        return new PostgresPurge(table, connections, olderThan, PostgresPurgeBatches.DONE);
    }

    static PostgresPurge ofDead(PostgresTable table, Connections connections, Duration olderThan) {
        return new PostgresPurge(table, connections, olderThan, PostgresPurgeBatches.DEAD);
    }

    /** The same on every node. */
    static long lock(PostgresTable table) {
        return Hash.of(table.name() + " purge");
    }

    /** Removes one batch and answers its size; 0 if nothing is old enough or another node is at it. */
    int batch(Duration limit) {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit);
                Query query = FreshPlan.of(purge, borrowed.connection())) {
            return batches.remove(query, olderThan, lock(table), BATCH);
        } catch (SQLException e) {
            throw SqlFailure.of("purge of " + table.name() + " failed", e);
        }
    }
}
