package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.Query;
import dev.outbox.jdbc.internal.Sql;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Settle and renew: every write is fenced by id, owner token and status, and answers what it changed; what
 * is missing from the answer was fenced.
 *
 * <p>Each settlement carries its own token, so the ends of several claims go in one statement. They hold
 * row locks only for that statement, and no other statement waits for rows of theirs: claims and purge skip
 * locked rows, and a poller renews and settles one after the other.
 *
 * <p>Processing is asked as {@code status >= 1 AND status < 2}, so that rows are found by their id: as {@code
 * status = 1} the planner would like to read the index of all leased rows, with all its dead entries.
 */
final class PostgresSettle {
    /** The common case, all Done, without the rest's bookkeeping. */
    static final String DONE_KEEP = """
            UPDATE {table} t SET {status} = 2, {owner_token} = NULL, {locked_until} = NULL,
                {processed_on} = statement_timestamp()
            FROM unnest(:ids::uuid[], :tokens::uuid[]) AS s(id, token)
            WHERE t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
            RETURNING s.id, s.token
            """;

    static final String DONE_DELETE = """
            DELETE FROM {table} t
            USING unnest(:ids::uuid[], :tokens::uuid[]) AS s(id, token)
            WHERE t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
            RETURNING s.id, s.token
            """;

    /**
     * Any mix. A keyed row that becomes Ready takes the later rows of its run along ({@code rest}): left
     * leased they would block the key until the lease expires. A row without a delay keeps its place in
     * its key, and without a key gets a due time, which puts it where no mark hides it.
     */
    static final String SETTLE = """
            WITH settled AS MATERIALIZED (
                SELECT * FROM unnest(:ids::uuid[], :tokens::uuid[], :statuses::smallint[], :delays::bigint[],
                    :errors::text[], :given_back::int[]) AS s(id, token, status, delay, error, given_back)
            ),
            reopened AS MATERIALIZED (
                SELECT t.{message_key} AS key, t.{owner_token} AS token, min(t.{sequence}) AS sequence
                FROM settled s JOIN {table} t
                  ON t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
                WHERE s.status = 0 AND t.{message_key} IS NOT NULL
                GROUP BY t.{message_key}, t.{owner_token}
            ),
            rest AS MATERIALIZED (
                SELECT t.{work_item_id} AS id, t.{owner_token} AS token
                FROM reopened r JOIN {table} t
                  ON t.{message_key} = r.key AND t.{status} >= 1 AND t.{status} < 2 AND t.{sequence} > r.sequence
                WHERE t.{owner_token} = r.token AND t.{work_item_id} <> ALL (:ids::uuid[])
            ),
            verdicts AS MATERIALIZED (
                SELECT id, token, status, delay, error, given_back FROM settled
                UNION ALL
                SELECT id, token, 0, NULL, NULL, 1 FROM rest
            ),
            deleted AS (
                DELETE FROM {table} t USING verdicts v
                WHERE v.status = 2 AND :delete_done
                  AND t.{work_item_id} = v.id AND t.{owner_token} = v.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING v.id, v.token
            ),
            updated AS (
                UPDATE {table} t SET {status} = v.status, {owner_token} = NULL, {locked_until} = NULL,
                    {attempt_count} = t.{attempt_count} - v.given_back,
                    {last_error} = COALESCE(v.error, t.{last_error}),
                    {due_on} = CASE
                        WHEN v.status <> 0 THEN t.{due_on}
                        WHEN v.delay IS NOT NULL THEN statement_timestamp() + v.delay * interval '1 microsecond'
                        WHEN t.{message_key} IS NULL THEN statement_timestamp()
                        ELSE t.{due_on} END,
                    {processed_on} = CASE WHEN v.status <> 0 THEN statement_timestamp() END
                FROM verdicts v
                WHERE NOT (v.status = 2 AND :delete_done)
                  AND t.{work_item_id} = v.id AND t.{owner_token} = v.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING v.id, v.token
            )
            SELECT id, token FROM deleted UNION ALL SELECT id, token FROM updated
            """;

    /** Touches no index: locked_until is in none. */
    static final String RENEW = """
            UPDATE {table} t SET {locked_until} = statement_timestamp() + :lease * interval '1 microsecond'
            FROM unnest(:ids::uuid[], :tokens::uuid[]) AS s(id, token)
            WHERE t.{work_item_id} = s.id AND t.{owner_token} = s.token AND t.{status} >= 1 AND t.{status} < 2
            RETURNING s.id, s.token
            """;

    private final boolean deleteDone;
    private final Sql done;
    private final Sql settle;
    private final Sql renew;

    PostgresSettle(PostgresTable table, Ack ack) {
        this.deleteDone = ack == Ack.DELETE;
        this.done = table.layout().resolve(deleteDone ? DONE_DELETE : DONE_KEEP);
        this.settle = table.layout().resolve(SETTLE);
        this.renew = table.layout().resolve(RENEW);
    }

    /** @return what was fenced */
    Set<Lease> settle(Connection connection, List<Settlement> settlements) throws SQLException {
        List<Lease> leases = settlements.stream().map(Settlement::lease).toList();
        if (settlements.stream().allMatch(s -> s.kind() == Kind.DONE)) {
            return without(connection, done, leases, null);
        }
        try (Query query = FreshPlan.of(settle, connection)) {
            query.set("delete_done", deleteDone)
                    .setArray("statuses", "int2", column(settlements, s -> status(s.kind())))
                    .setArray("delays", "int8", column(settlements, PostgresSettle::delay))
                    .setArray("errors", "text", column(settlements, PostgresSettle::error))
                    .setArray("given_back", "int4", column(settlements, s -> s.attemptGivenBack() ? 1 : 0));
            return run(query, leases);
        }
    }

    /** @return what is lost */
    Set<Lease> renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return without(connection, renew, leases, length);
    }

    private static Set<Lease> without(Connection connection, Sql sql, List<Lease> leases, @Nullable Duration length)
            throws SQLException {
        try (Query query = FreshPlan.of(sql, connection)) {
            if (length != null) {
                query.set("lease", length);
            }
            return run(query, leases);
        }
    }

    /** Runs it for these leases and answers those it did not change. */
    private static Set<Lease> run(Query query, List<Lease> leases) throws SQLException {
        query.setArray("ids", "uuid", column(leases, lease -> UUID.fromString(lease.itemId())));
        query.setArray("tokens", "uuid", column(leases, lease -> UUID.fromString(lease.ownerToken())));
        Set<Lease> unchanged = new HashSet<>(leases);
        try (ResultSet rows = query.rows()) {
            while (rows.next()) {
                unchanged.remove(new Lease(rows.getString(1), rows.getString(2)));
            }
        }
        return unchanged;
    }

    private static int status(Kind kind) {
        return switch (kind) {
            case RETRY, RELEASE -> 0;
            case DONE -> 2;
            case DEAD -> 3;
        };
    }

    private static @Nullable Long delay(Settlement settlement) {
        return settlement.kind() == Kind.RETRY ? settlement.delay().toNanos() / 1_000 : null;
    }

    /** Error texts come from anywhere: what the column cannot hold is replaced. */
    private static @Nullable String error(Settlement settlement) {
        return settlement.error() == null ? null : settlement.error().replace('\0', '\uFFFD');
    }

    private static <T> Object[] column(List<T> list, Function<T, @Nullable Object> field) {
        Object[] column = new Object[list.size()];
        for (int i = 0; i < column.length; i++) {
            column[i] = field.apply(list.get(i));
        }
        return column;
    }
}
