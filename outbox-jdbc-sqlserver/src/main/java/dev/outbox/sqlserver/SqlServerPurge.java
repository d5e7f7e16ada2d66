package dev.outbox.sqlserver;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.SQLException;
import java.time.Duration;

/** Removes old Done rows, or old Dead ones, in statements small enough not to lock the table. Rows that somebody holds are skipped. */
final class SqlServerPurge {
    static final int BATCH = 1_000;

    static final String PURGE = """
            DECLARE @age bigint = :older_than, @batch int = :batch, @before datetime2(7);
            SET @before = DATEADD(millisecond, -CAST(@age % 86400000 AS int),
                DATEADD(day, -CAST(@age / 86400000 AS int), SYSUTCDATETIME()));
            DELETE t
            FROM {table} t WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            JOIN (
                SELECT TOP (@batch) {place} AS place
                FROM {table} WITH ({by_done}ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE {mine} AND {status} = 2 AND {done} AND {processed_on} < @before
                ORDER BY {processed_on}) picked ON t.{place} = picked.place
            WHERE t.{done};
            SELECT @@ROWCOUNT AS removed;
            """;

    /** A Dead row that blocks its key is kept: without it the key would go on as if nothing had happened. */
    static final String PURGE_DEAD = """
            DECLARE @age bigint = :older_than, @batch int = :batch, @before datetime2(7);
            SET @before = DATEADD(millisecond, -CAST(@age % 86400000 AS int),
                DATEADD(day, -CAST(@age / 86400000 AS int), SYSUTCDATETIME()));
            DELETE t
            FROM {table} t WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            JOIN (
                SELECT TOP (@batch) {place} AS place
                FROM {table} WITH ({by_dead}ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE {mine} AND {dead} AND {blocks_nothing} AND {processed_on} < @before
                ORDER BY {processed_on}) picked ON t.{place} = picked.place
            WHERE t.{dead};
            SELECT @@ROWCOUNT AS removed;
            """;

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
        return new SqlServerPurge(table, connections, olderThan, PURGE);
    }

    static SqlServerPurge ofDead(SqlServerTable table, Connections connections, Duration olderThan) {
        return new SqlServerPurge(table, connections, olderThan, PURGE_DEAD);
    }

    /** Removes one batch and answers its size. */
    int batch(Duration limit) {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit)) {
            return purge.run(
                    borrowed.connection(),
                    query -> query.set("older_than", olderThan.toMillis()).set("batch", BATCH),
                    rows -> {
                        rows.next();
                        return rows.getInt("removed");
                    });
        } catch (SQLException e) {
            throw SqlFailure.of("purge of " + table.name() + " failed", e);
        }
    }
}
