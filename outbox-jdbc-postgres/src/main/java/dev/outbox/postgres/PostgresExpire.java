package dev.outbox.postgres;

import dev.outbox.OnDead;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.spi.ClaimRequest;
import java.sql.Connection;
import java.sql.SQLException;

/** Ends leases that ran out. */
final class PostgresExpire {
    private static final int BATCH = 1_000;

    /**
     * Leases that ran out: Ready again, or Dead with no attempt left. Every row passes through status 1, so
     * this index has a dead entry for each; therefore it is run on a timer, a quarter of the lease apart or
     * more, not with each claim. A row whose owner is renewing or settling it right now is locked, and
     * skipped. A lease without an end, which somebody else must have written, counts as expired: nothing
     * else would ever find it.
     *
     * <p>A message that kills its worker takes the attempts of everything claimed with it. So what expires
     * again comes back at random times, each time further apart, and finds itself in other company.
     */
    static final String EXPIRE = """
            UPDATE {table} t SET
                {status = CASE WHEN {attempt_count} >= :max_attempts THEN 3 ELSE 0 END},
                {blocks_key = :blocking AND {attempt_count} >= :max_attempts AND {message_key} IS NOT NULL},
                {owner_token = NULL}, {locked_until = NULL},
                {due_on once = CASE
                    WHEN {message_key} IS NOT NULL AND {sequence} > (
                        SELECT h.{sequence} FROM {table} h
                        WHERE {mine} AND h.{message_key} = t.{message_key} AND h.{status} >= 1 AND h.{status} < 2
                        ORDER BY h.{status} DESC, h.{sequence} LIMIT 1)
                    THEN {due_on}
                    ELSE statement_timestamp() + CASE WHEN {attempt_count} = 1 THEN interval '0'
                        ELSE random() * LEAST(300, power(2, {attempt_count} - 2)) * interval '1 second' END
                    END},
                {first_due_on = COALESCE({first_due_on}, {due_on}, {created_on})},
                {processed_on = CASE WHEN {attempt_count} >= :max_attempts THEN statement_timestamp() END},
                {last_error = 'lease expired on attempt ' || {attempt_count} || ' at ' || COALESCE({processed_by}, 'an unknown poller')}
            WHERE {work_item_id} = ANY (ARRAY(
                SELECT {work_item_id} FROM {table}
                WHERE {mine} AND {processing} AND ({locked_until} <= statement_timestamp()) IS NOT FALSE
                  AND (:topics::text[] IS NULL OR {topic} = ANY (:topics))
                ORDER BY {sequence} LIMIT :batch
                FOR NO KEY UPDATE SKIP LOCKED))
              AND {topic} IS NOT NULL AND {status} >= 1 AND {status} < 2 AND ({locked_until} <= statement_timestamp()) IS NOT FALSE
            RETURNING {status} AS status,
            """ + WorkItemRow.NAMING_COLUMNS;

    private final PinnedPlan expire;

    PostgresExpire(PostgresTable table) {
        this.expire = PinnedPlan.of(table.own(), EXPIRE);
    }

    ClaimCycle.Expired run(Connection connection, ClaimRequest request) throws SQLException {
        return expire.run(
                connection,
                query -> query.set("max_attempts", request.maxAttempts())
                        .set("blocking", request.onDead() == OnDead.BLOCK)
                        .set("batch", BATCH)
                        .setArray("topics", "text", PostgresClaim.names(request.topics())),
                results -> ClaimCycle.Expired.read(results.next(), BATCH));
    }
}
