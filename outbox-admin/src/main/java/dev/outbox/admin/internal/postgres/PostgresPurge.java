package dev.outbox.admin.internal.postgres;

import dev.outbox.admin.internal.PurgeStatements;

/** Removes what has been Done for long, on PostgreSQL; see the purge of a poller for why by place. */
final class PostgresPurge implements PurgeStatements {
    @Override
    public String purge() {
        return """
            DELETE FROM {table}
            WHERE ctid = ANY (ARRAY(
                SELECT old.place
                FROM {consumers} AS c CROSS JOIN LATERAL (
                    SELECT ctid AS place FROM {table}
                    WHERE {of_consumer} AND {status} = 2
                      AND {processed_on} < statement_timestamp() - :older_than * interval '1 microsecond'
                    ORDER BY {processed_on} LIMIT :batch
                    FOR UPDATE SKIP LOCKED) AS old
                LIMIT :batch))
              AND {status} = 2
            """;
    }

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
}
