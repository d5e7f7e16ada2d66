package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sqlserver.SqlServerPurgeBatches;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Removes what has been Done for long, on SQL Server. */
final class SqlServerPurge implements PurgeStatements {
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

    /** The index has the rows of all consumers by the time they ended. */
    @Override
    public Optional<String> consumers(TableKind kind) {
        return Optional.empty();
    }

    @Override
    public String remove() {
        return SqlServerPurgeBatches.DONE;
    }

    @Override
    public int remove(Query query, Duration olderThan, int batch) throws SQLException {
        SqlServerPurgeBatches.set(query, olderThan, batch);
        try (ResultSet rows = query.rows()) {
            return SqlServerPurgeBatches.removed(rows);
        }
    }
}
