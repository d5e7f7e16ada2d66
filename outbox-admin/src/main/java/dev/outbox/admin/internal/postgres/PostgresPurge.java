package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.PurgeStatements;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.postgres.PostgresPurgeBatches;
import dev.outbox.jdbc.internal.sql.Query;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;

/** Removes what has been Done for long, on PostgreSQL. The index of an inbox has it by consumer. */
final class PostgresPurge implements PurgeStatements {
    private final PostgresPurgeBatches batches = new PostgresPurgeBatches();

    @Override
    public String count() {
        return """
            SELECT count(*) AS found
            FROM (
                SELECT FROM {consumers} AS c CROSS JOIN LATERAL (
                    SELECT FROM {table}
                    WHERE {of_consumer} AND {status} = 2
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                    ORDER BY {processed_on} LIMIT :most) AS old
                LIMIT :most) AS counted
            """;
    }

    @Override
    public Optional<String> consumers(TableKind kind) {
        return kind == TableKind.INBOX ? Optional.of("SELECT consumer FROM {consumers} AS c") : Optional.empty();
    }

    @Override
    public String remove() {
        return PostgresPurgeBatches.DONE;
    }

    /** Without the lock of the pollers' purges: an operator need not wait until they are done. */
    @Override
    public int remove(Query query, Duration olderThan, int batch) throws SQLException {
        return batches.remove(query, olderThan, null, batch);
    }
}
