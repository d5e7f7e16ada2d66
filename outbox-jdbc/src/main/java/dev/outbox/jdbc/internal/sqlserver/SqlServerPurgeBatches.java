package dev.outbox.jdbc.internal.sqlserver;

import dev.outbox.jdbc.internal.sql.Query;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;

/**
 * Removes old rows of a SQL Server table in statements small enough not to lock the table, on behalf of a poller or of an
 * operator. Rows that somebody holds are skipped.
 */
public final class SqlServerPurgeBatches {
    public static final String DONE = """
            SET NOCOUNT ON;
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
    public static final String DEAD = """
            SET NOCOUNT ON;
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

    private SqlServerPurgeBatches() {}

    public static void set(Query query, Duration olderThan, int batch) throws SQLException {
        query.set("older_than", olderThan.toMillis()).set("batch", batch);
    }

    /** The size of the batch that was removed. */
    public static int removed(ResultSet rows) throws SQLException {
        rows.next();
        return rows.getInt("removed");
    }
}
