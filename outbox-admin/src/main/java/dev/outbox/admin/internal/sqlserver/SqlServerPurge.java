package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.PurgeStatements;

/** Removes what has been Done for long, on SQL Server. */
final class SqlServerPurge implements PurgeStatements {
    /** A server may be set to NOCOUNT, and then nobody would be told how many it removed. */
    @Override
    public String purge() {
        return """
            SET NOCOUNT OFF;
            DELETE t
            FROM {table} t WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            JOIN (
                SELECT TOP (CAST(:batch AS int)) {sequence} AS place
                FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
                WHERE {status} = 2 AND {processed_on}
                    < DATEADD(millisecond, -CAST(CAST(:older_than AS bigint) / 1000 % 86400000 AS int),
                        DATEADD(day, -CAST(CAST(:older_than AS bigint) / 86400000000 AS int), SYSUTCDATETIME()))
                ORDER BY {processed_on}) picked ON t.{sequence} = picked.place
            WHERE t.{status} = 2
            """;
    }

    @Override
    public String count() {
        return """
            SELECT COUNT_BIG(*) AS found
            FROM (
                SELECT TOP (CAST(:most AS int)) {sequence} AS place
                FROM {table}
                WHERE {status} = 2 AND {processed_on}
                    < DATEADD(millisecond, -CAST(CAST(:older_than AS bigint) / 1000 % 86400000 AS int),
                        DATEADD(day, -CAST(CAST(:older_than AS bigint) / 86400000000 AS int), SYSUTCDATETIME()))) old
            """;
    }
}
