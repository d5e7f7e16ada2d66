package dev.outbox.sqlserver;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sqlserver.SqlServerPurgeBatches;
import java.sql.SQLException;
import java.time.Duration;

/** Removes old Done rows, or old Dead ones, of the rows that are ours. */
final class SqlServerPurge {
    static final int BATCH = 1_000;

    private final SqlServerTable table;
    private final Connections connections;
    private final Duration olderThan;
    private final SqlServerBatch purge;

    private SqlServerPurge(SqlServerTable table, Connections connections, Duration olderThan, String statement) {
        this.table = table;
        this.connections = connections;
        this.olderThan = olderThan;
        this.purge = SqlServerBatch.of(table.layout(), statement);
    }

    static SqlServerPurge ofDone(SqlServerTable table, Connections connections, Duration olderThan) {
        return new SqlServerPurge(table, connections, olderThan, SqlServerPurgeBatches.DONE);
    }

    static SqlServerPurge ofDead(SqlServerTable table, Connections connections, Duration olderThan) {
        return new SqlServerPurge(table, connections, olderThan, SqlServerPurgeBatches.DEAD);
    }

    /** Removes one batch and answers its size. */
    int batch(Duration limit) {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit)) {
            return purge.run(
                    borrowed.connection(),
                    query -> SqlServerPurgeBatches.set(query, olderThan, BATCH),
                    SqlServerPurgeBatches::removed);
        } catch (SQLException e) {
            throw SqlFailure.of("purge of " + table.name() + " failed", e);
        }
    }
}
