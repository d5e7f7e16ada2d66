package dev.outbox.postgres;

import dev.outbox.jdbc.Phase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** Tells an idle poller when the next item is due. */
final class PostgresNextDue {
    /**
     * The next time that lies ahead. Rows already due do not count: either a claim takes them, or they are
     * held back by their key, and then nothing here will change that. Of a key only the head counts, and only
     * while nothing of it is leased and nothing blocks it. The nearest hundred of each kind are looked at; if none of these counts,
     * the idle poll has to do.
     */
    static final String NEXT_DUE = """
            SELECT (EXTRACT(EPOCH FROM min(ahead.due_on) - statement_timestamp()) * 1000000)::bigint
            FROM (
                SELECT unkeyed.due_on, unkeyed.topic FROM generate_series(0, 2) band CROSS JOIN LATERAL (
                    SELECT {due_on} AS due_on, {topic} AS topic FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NULL AND {due_on} IS NOT NULL
                      AND {priority} = band AND {due_on} > statement_timestamp()
                    ORDER BY {due_on} LIMIT 100) unkeyed
                UNION ALL
                SELECT keyed.due_on, keyed.topic FROM (
                    SELECT {due_on} AS due_on, {topic} AS topic, {message_key} AS key, {work_item_id} AS id
                    FROM {table}
                    WHERE {mine} AND {status} = 0 AND {message_key} IS NOT NULL AND {due_on} IS NOT NULL
                      AND {due_on} > statement_timestamp()
                    ORDER BY {due_on} LIMIT 100) keyed
                WHERE keyed.id = (
                    SELECT {work_item_id} FROM {table}
                    WHERE {mine} AND ({status} < 2 OR {status} = 3 AND {blocks_key}) AND {message_key} = keyed.key
                    ORDER BY {status} DESC, {sequence} LIMIT 1)
            ) AS ahead
            WHERE :topics::text[] IS NULL OR ahead.topic = ANY (:topics)
            """;

    private final PinnedPlan nextDue;

    PostgresNextDue(PostgresTable table) {
        this.nextDue =
                PinnedPlan.of(table.own(), table.phase().before(Phase.DUAL) ? PostgresLegacyClaim.NEXT_DUE : NEXT_DUE);
    }

    /** @param topics all if there are none */
    Optional<Duration> run(Connection connection, Set<String> topics) throws SQLException {
        return nextDue.run(
                connection, query -> query.setArray("topics", "text", PostgresClaim.names(topics)), results -> {
                    ResultSet row = results.next();
                    row.next();
                    long micros = row.getLong(1);
                    return row.wasNull() ? Optional.empty() : Optional.of(Duration.ofNanos(micros * 1_000));
                });
    }
}
