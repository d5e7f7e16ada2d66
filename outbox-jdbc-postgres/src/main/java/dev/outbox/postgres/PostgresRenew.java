package dev.outbox.postgres;

import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/**
 * Makes leases longer. It locks the rows that are free, in the order of their sequence, and answers the others as locked; so it
 * waits for nobody.
 */
final class PostgresRenew {
    /** Touches no index: locked_until is in none. */
    static final String RENEW = """
            WITH leases AS MATERIALIZED (
                SELECT * FROM unnest(:ids::{id_type}[], :tokens::uuid[]) AS s(id, token)
            ),
            found AS MATERIALIZED (
                SELECT s.id, s.token
                FROM leases s JOIN {table} t
                  ON t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
                WHERE t.{work_item_id} = ANY (:ids) AND t.{topic} IS NOT NULL
            ),
            free AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM found)) AND {topic} IS NOT NULL
                  AND {status} >= 1 AND {status} < 2
                ORDER BY {sequence}
                FOR NO KEY UPDATE SKIP LOCKED
            ),
            renewed AS (
                UPDATE {table} t SET {locked_until = statement_timestamp() + :lease * interval '1 microsecond'}
                FROM leases s
                WHERE t.{work_item_id} = ANY (ARRAY(SELECT id FROM free)) AND t.{topic} IS NOT NULL
                  AND t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING s.id, s.token
            )
            SELECT id, token, false AS locked FROM renewed
            UNION ALL
            SELECT f.id, f.token, true FROM found f LEFT JOIN free ON free.id = f.id WHERE free.id IS NULL
            """;

    private final PinnedPlan renew;
    private final LeaseColumns columns;

    PostgresRenew(Layout layout, LeaseColumns columns) {
        this.renew = PinnedPlan.impatient(layout, List.of(RENEW));
        this.columns = columns;
    }

    Unchanged run(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return renew.run(
                connection,
                query -> columns.setLeases(query.set("lease", length), leases),
                results -> columns.unchanged(leases, results.next()));
    }
}
