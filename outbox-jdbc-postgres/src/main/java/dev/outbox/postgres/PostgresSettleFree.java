package dev.outbox.postgres;

import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.SettlementValues;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Settles beside rows that somebody else has locked: it waits for nobody, and remembers which rows were locked. */
final class PostgresSettleFree {
    /**
     * Only the rows that nobody else has locked, and of a key only those before the first one that somebody has. The
     * others are answered as locked. A row that was settled or taken away while this statement began is answered as
     * locked too; asked again, it is lost.
     */
    static final String SETTLE = """
            WITH settled AS MATERIALIZED (
                SELECT * FROM unnest(:ids::{id_type}[], :tokens::uuid[], :statuses::smallint[], :delays::bigint[],
                    :errors::text[], :given_back::int[], :blocks::boolean[])
                    AS s(id, token, status, delay, error, given_back, blocks)
            ),
            held_back AS MATERIALIZED (
                SELECT t.{message_key} AS key, t.{owner_token} AS token, min(t.{sequence}) AS sequence
                FROM settled s JOIN {table} t
                  ON t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
                WHERE t.{work_item_id} = ANY (:ids) AND t.{topic} IS NOT NULL
                  AND (s.status = 0 OR s.blocks) AND t.{message_key} IS NOT NULL
                GROUP BY t.{message_key}, t.{owner_token}
            ),
            rest AS MATERIALIZED (
                SELECT later.id, h.token
                FROM held_back h CROSS JOIN LATERAL (
                    SELECT {work_item_id} AS id FROM {table}
                    WHERE {mine} AND {message_key} = h.key AND {status} >= 1 AND {status} < 2
                      AND {sequence} > h.sequence
                      AND {owner_token} = h.token AND {work_item_id} <> ALL (:ids::{id_type}[])
                    OFFSET 0) later
            ),
            asked AS MATERIALIZED (
                SELECT id, token, status, delay, error, given_back, blocks FROM settled
                UNION ALL
                SELECT id, token, 0, NULL, NULL, 1, false FROM rest
            ),
            found AS MATERIALIZED (
                SELECT a.id, a.token, t.{message_key} AS key, t.{sequence} AS sequence
                FROM asked a JOIN {table} t
                  ON t.{work_item_id} = a.id AND t.{owner_token} = a.token AND t.{status} >= 1 AND t.{status} < 2
                WHERE t.{work_item_id} = ANY (ARRAY(SELECT id FROM asked)) AND t.{topic} IS NOT NULL
            ),
            free AS MATERIALIZED (
                SELECT {work_item_id} AS id FROM {table}
                WHERE {work_item_id} = ANY (ARRAY(SELECT id FROM found)) AND {topic} IS NOT NULL
                  AND {status} >= 1 AND {status} < 2
                ORDER BY {sequence}
                FOR UPDATE SKIP LOCKED
            ),
            first_locked AS MATERIALIZED (
                SELECT f.key, f.token, min(f.sequence) AS sequence
                FROM found f LEFT JOIN free ON free.id = f.id
                WHERE free.id IS NULL
                GROUP BY f.key, f.token
            ),
            verdicts AS MATERIALIZED (
                SELECT a.*
                FROM asked a JOIN found f ON f.id = a.id AND f.token = a.token JOIN free ON free.id = f.id
                  LEFT JOIN first_locked l ON l.key = f.key AND l.token = f.token
                WHERE l.sequence IS NULL OR f.sequence < l.sequence
            ),
            deleted AS (
                DELETE FROM {table} t USING verdicts v
                WHERE v.status = 2 AND :delete_done AND t.{topic} IS NOT NULL
                  AND t.{work_item_id} = ANY (ARRAY(SELECT id FROM verdicts))
                  AND t.{work_item_id} = v.id AND t.{owner_token} = v.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING v.id, v.token
            ),
            updated AS (
                UPDATE {table} t SET {status = v.status}, {owner_token = NULL}, {locked_until = NULL},
                    {attempt_count = t.{attempt_count} - v.given_back},
                    {blocks_key = v.blocks AND t.{message_key} IS NOT NULL},
                    {last_error = COALESCE(v.error, t.{last_error})},
                    {due_on = CASE
                        WHEN v.status <> 0 THEN t.{due_on}
                        WHEN v.delay IS NOT NULL THEN statement_timestamp() + v.delay * interval '1 microsecond'
                        WHEN t.{message_key} IS NULL THEN statement_timestamp()
                        ELSE t.{due_on} END},
                    {first_due_on = CASE WHEN v.status = 0 THEN COALESCE(t.{first_due_on}, t.{due_on}, t.{created_on})
                        ELSE t.{first_due_on} END},
                    {processed_on = CASE WHEN v.status <> 0 THEN statement_timestamp() END}
                FROM verdicts v
                WHERE NOT (v.status = 2 AND :delete_done) AND t.{topic} IS NOT NULL
                  AND t.{work_item_id} = ANY (ARRAY(SELECT id FROM verdicts))
                  AND t.{work_item_id} = v.id AND t.{owner_token} = v.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING v.id, v.token
            )
            SELECT id, token, false AS locked FROM deleted UNION ALL SELECT id, token, false FROM updated
            UNION ALL
            SELECT f.id, f.token, true
            FROM found f LEFT JOIN verdicts v ON v.id = f.id AND v.token = f.token
            WHERE v.id IS NULL
            """;

    private final PinnedPlan settle;
    private final LeaseColumns columns;

    /** Those that were locked when they were last to be settled: to wait for them again would be in vain. */
    private volatile Set<Lease> locked = Set.of();

    PostgresSettleFree(Layout layout, LeaseColumns columns) {
        this.settle = PinnedPlan.impatient(layout, List.of(SETTLE));
        this.columns = columns;
    }

    /** Whether none of them was locked when it was last to be settled. */
    boolean areFree(List<Settlement> settlements) {
        return settlements.stream().noneMatch(settlement -> locked.contains(settlement.lease()));
    }

    Unchanged run(Connection connection, List<Settlement> settlements) throws SQLException {
        List<Lease> leases = SettlementValues.leases(settlements);
        Unchanged unchanged = settle.run(
                connection,
                query -> columns.setSettlements(query, settlements),
                results -> columns.unchanged(leases, results.next()));
        Set<Lease> known = new HashSet<>(locked);
        leases.forEach(known::remove);
        known.addAll(unchanged.locked());
        locked = known;
        return unchanged;
    }
}
