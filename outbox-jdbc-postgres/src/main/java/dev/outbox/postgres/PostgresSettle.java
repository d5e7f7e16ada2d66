package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.OnDead;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Settle and renew: every write is fenced by id, owner token and status, and answers what it changed; what
 * is missing from the answer was fenced.
 *
 * <p>Each settlement carries its own token, so the ends of several claims go in one statement. They hold
 * row locks only for that statement, and claims, purge and renewals skip locked rows.
 *
 * <p>A stranger may lock a leased row for as long as it likes: in an inbox, an open transaction that repeats an item in
 * flight does, for it has counted the receipt. A renewal locks the rows that are free, in the order of their sequence, and
 * answers the others as locked. A settle assumes first that all rows are free, because to lock them first costs up to a
 * half more. If it has to wait for longer than {@link PinnedPlan#IMPATIENT a moment} it is rolled back, and {@link
 * #SETTLE_FREE} settles what nobody else has locked.
 *
 * <p>Processing is asked as {@code status >= 1 AND status < 2}, so that rows are found by their id: as {@code
 * status = 1} the planner would like to read the index of all leased rows, with all its dead entries. That a
 * leased row has a topic goes without saying, but the index of an inbox's items holds only rows that have one.
 */
final class PostgresSettle {
    /** The common case, all Done, one statement per token; also what ends a handler's transaction. */
    static final String DONE_KEEP = """
            UPDATE {table} SET {status = 2}, {owner_token = NULL}, {locked_until = NULL},
                {processed_on = statement_timestamp()}
            WHERE {work_item_id} = ANY (:ids) AND {topic} IS NOT NULL
              AND {owner_token} = :token AND {status} >= 1 AND {status} < 2
            RETURNING {work_item_id}
            """;

    static final String DONE_DELETE = """
            DELETE FROM {table}
            WHERE {work_item_id} = ANY (:ids) AND {topic} IS NOT NULL
              AND {owner_token} = :token AND {status} >= 1 AND {status} < 2
            RETURNING {work_item_id}
            """;

    /**
     * Any mix. A row that holds back its key, Ready again or Dead and blocking, takes the later rows of its run along
     * ({@code rest}): left leased they would block the key until the lease expires. The update itself says which rows have
     * a key, so rows without one cost nothing more. The later rows are looked up key by key; OFFSET 0 keeps the planner
     * from reading all leased rows. A row without a delay keeps its place in its key, and without a key gets a due time,
     * which puts it where no mark hides it. The first time that a row goes back, first_due_on keeps when it was due until
     * then. It waits for rows that somebody else has locked.
     */
    static final String SETTLE = """
            WITH settled AS MATERIALIZED (
                SELECT * FROM unnest(:ids::{id_type}[], :tokens::uuid[], :statuses::smallint[], :delays::bigint[],
                    :errors::text[], :given_back::int[], :blocks::boolean[])
                    AS s(id, token, status, delay, error, given_back, blocks)
            ),
            deleted AS (
                DELETE FROM {table} t USING settled v
                WHERE v.status = 2 AND :delete_done AND t.{topic} IS NOT NULL
                  AND t.{work_item_id} = ANY (:ids)
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
                FROM settled v
                WHERE NOT (v.status = 2 AND :delete_done) AND t.{topic} IS NOT NULL
                  AND t.{work_item_id} = ANY (:ids)
                  AND t.{work_item_id} = v.id AND t.{owner_token} = v.token AND t.{status} >= 1 AND t.{status} < 2
                RETURNING v.id, v.token, t.{sequence} AS sequence,
                    CASE WHEN v.status = 0 OR v.blocks THEN t.{message_key} END AS held_key
            ),
            held_back AS MATERIALIZED (
                SELECT held_key AS key, token, min(sequence) AS sequence FROM updated
                WHERE held_key IS NOT NULL GROUP BY held_key, token
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
            released AS (
                UPDATE {table} t SET {status = 0}, {owner_token = NULL}, {locked_until = NULL},
                    {attempt_count = t.{attempt_count} - 1},
                    {first_due_on = COALESCE(t.{first_due_on}, t.{due_on}, t.{created_on})}, {processed_on = NULL}
                FROM rest
                WHERE t.{topic} IS NOT NULL AND t.{work_item_id} = ANY (ARRAY(SELECT id FROM rest))
                  AND t.{work_item_id} = rest.id AND t.{owner_token} = rest.token
                  AND t.{status} >= 1 AND t.{status} < 2
            )
            SELECT id, token, false AS locked FROM deleted UNION ALL SELECT id, token, false FROM updated
            """;

    /**
     * Only the rows that nobody else has locked, and of a key only those before the first one that somebody has. The
     * others are answered as locked. A row that was settled or taken away while this statement began is answered as
     * locked too; asked again, it is lost.
     */
    static final String SETTLE_FREE = """
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

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** The ends of so many claims go in one round trip without the bookkeeping of a mix. */
    private static final int MOST_TOKENS = 4;

    private final boolean deleteDone;
    private final ItemIds ids;
    private final Sql settleIn;
    private final PinnedPlan doneIn;
    private final PinnedPlan settle;
    private final PinnedPlan settleFree;
    private final PinnedPlan renew;

    /** Those that were locked when they were last to be settled: to wait for them again would be in vain. */
    private volatile Set<Lease> locked = Set.of();

    /** By the number of tokens, less one. */
    private final List<PinnedPlan> done = new ArrayList<>();

    /** The same, and then the others, in one transaction: what is Done needs none of the bookkeeping of a mix. */
    private final List<PinnedPlan> mixed = new ArrayList<>();

    /**
     * @param callers for what is settled in a transaction beside a handler's effects
     * @param own for transactions that do nothing else
     * @param ids what the ids name, so that rows are found by it
     */
    PostgresSettle(Layout callers, Layout own, Ack ack, ItemIds ids) {
        this.deleteDone = ack == Ack.DELETE;
        this.ids = ids;
        this.settleIn = callers.resolve(SETTLE);
        this.doneIn = PinnedPlan.last(callers, deleteDone ? DONE_DELETE : DONE_KEEP);
        this.settle = PinnedPlan.impatient(own, List.of(SETTLE));
        this.settleFree = PinnedPlan.impatient(own, List.of(SETTLE_FREE));
        this.renew = PinnedPlan.impatient(own, List.of(RENEW));
        List<String> statements = new ArrayList<>();
        for (int token = 0; token < MOST_TOKENS; token++) {
            String number = "_" + token;
            statements.add((deleteDone ? DONE_DELETE : DONE_KEEP)
                    .replace(":ids", ":ids" + number)
                    .replace(":token", ":token" + number));
            done.add(PinnedPlan.impatient(own, statements));
            mixed.add(PinnedPlan.impatient(
                    own, Stream.concat(statements.stream(), Stream.of(SETTLE)).toList()));
        }
    }

    /** On a connection in auto-commit mode. */
    Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException {
        if (settlements.stream().noneMatch(settlement -> locked.contains(settlement.lease()))) {
            try {
                return Unchanged.lost(settleAll(connection, settlements));
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
            }
        }
        List<Lease> leases = leases(settlements);
        Unchanged unchanged = settleFree.run(
                connection, query -> set(query, settlements, leases), results -> unchanged(leases, results.next()));
        Set<Lease> known = new HashSet<>(locked);
        leases.forEach(known::remove);
        known.addAll(unchanged.locked());
        locked = known;
        return unchanged;
    }

    /** Answers what was fenced. */
    private Set<Lease> settleAll(Connection connection, List<Settlement> settlements) throws SQLException {
        Map<String, List<String>> doneByToken = new LinkedHashMap<>();
        List<Settlement> others = new ArrayList<>();
        for (Settlement settlement : settlements) {
            if (settlement.kind() == Kind.DONE) {
                doneByToken
                        .computeIfAbsent(settlement.lease().ownerToken(), token -> new ArrayList<>())
                        .add(settlement.lease().itemId());
            } else {
                others.add(settlement);
            }
        }
        List<Map.Entry<String, List<String>>> claims = List.copyOf(doneByToken.entrySet());
        if (claims.isEmpty() || claims.size() > MOST_TOKENS) {
            List<Lease> leases = leases(settlements);
            return settle.run(
                    connection,
                    query -> set(query, settlements, leases),
                    results -> unchanged(leases, results.next()).lost());
        }
        if (others.isEmpty()) {
            return done.get(claims.size() - 1)
                    .run(connection, query -> setDone(query, claims), results -> notDone(claims, results));
        }
        List<Lease> leases = leases(others);
        return mixed.get(claims.size() - 1)
                .run(
                        connection,
                        query -> {
                            setDone(query, claims);
                            set(query, others, leases);
                        },
                        results -> {
                            Set<Lease> fenced = notDone(claims, results);
                            fenced.addAll(unchanged(leases, results.next()).lost());
                            return fenced;
                        });
    }

    /**
     * In a transaction beside a handler's effects, as its last statement. Answers what was fenced. It waits for rows that
     * somebody else has locked, for as long as given; then the driver cancels it.
     */
    Set<Lease> settleIn(Connection tx, List<Settlement> settlements, Duration limit) throws SQLException {
        if (settlements.size() == 1 && settlements.get(0).kind() == Kind.DONE) {
            Lease lease = settlements.get(0).lease();
            return doneIn.runIn(
                    tx,
                    query -> query.within(limit)
                            .set("token", UUID.fromString(lease.ownerToken()))
                            .setArray("ids", ids.type(), new Object[] {ids.toColumn(lease.itemId())}),
                    results -> results.next().next() ? Set.of() : Set.of(lease));
        }
        List<Lease> leases = leases(settlements);
        try (Query query = FreshPlan.of(settleIn, tx)) {
            set(query.within(limit), settlements, leases);
            return unchanged(leases, query.rows()).lost();
        }
    }

    Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return renew.run(
                connection,
                query -> set(query.set("lease", length), leases),
                results -> unchanged(leases, results.next()));
    }

    private void setDone(Query query, List<Map.Entry<String, List<String>>> claims) throws SQLException {
        for (int i = 0; i < claims.size(); i++) {
            query.set("token_" + i, UUID.fromString(claims.get(i).getKey()))
                    .setArray("ids_" + i, ids.type(), column(claims.get(i).getValue(), ids::toColumn));
        }
    }

    private Set<Lease> notDone(List<Map.Entry<String, List<String>>> claims, PinnedPlan.Results results)
            throws SQLException {
        Set<Lease> fenced = new HashSet<>();
        for (Map.Entry<String, List<String>> claim : claims) {
            try (ResultSet rows = results.next()) {
                missing(claim.getValue(), rows).forEach(id -> fenced.add(new Lease(id, claim.getKey())));
            }
        }
        return fenced;
    }

    private Collection<String> missing(List<String> settled, ResultSet rows) throws SQLException {
        List<String> found = new ArrayList<>();
        while (rows.next()) {
            found.add(ids.toItemId(rows.getString(1)));
        }
        if (found.size() == settled.size()) {
            return List.of();
        }
        Set<String> missing = new LinkedHashSet<>(settled);
        found.forEach(missing::remove);
        return missing;
    }

    private void set(Query query, List<Settlement> settlements, List<Lease> leases) throws SQLException {
        query.set("delete_done", deleteDone)
                .setArray("statuses", "int2", column(settlements, s -> status(s.kind())))
                .setArray("delays", "int8", column(settlements, PostgresSettle::delay))
                .setArray("errors", "text", column(settlements, PostgresSettle::error))
                .setArray("given_back", "int4", column(settlements, Settlement::attemptsGivenBack))
                .setArray(
                        "blocks",
                        "bool",
                        column(settlements, s -> s.kind() == Kind.DEAD && s.onDead() == OnDead.BLOCK));
        set(query, leases);
    }

    private void set(Query query, List<Lease> leases) throws SQLException {
        query.setArray("ids", ids.type(), column(leases, lease -> ids.toColumn(lease.itemId())))
                .setArray("tokens", "uuid", column(leases, lease -> UUID.fromString(lease.ownerToken())));
    }

    private Unchanged unchanged(List<Lease> leases, ResultSet rows) throws SQLException {
        Set<Lease> lost = new HashSet<>(leases);
        Set<Lease> locked = new HashSet<>();
        while (rows.next()) {
            Lease lease = new Lease(ids.toItemId(rows.getString(1)), rows.getString(2));
            if (lost.remove(lease) && rows.getBoolean(3)) { // not the rest of a run, which nobody named
                locked.add(lease);
            }
        }
        return new Unchanged(lost, locked);
    }

    private static List<Lease> leases(List<Settlement> settlements) {
        return settlements.stream().map(Settlement::lease).toList();
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
        return settlement.error() == null ? null : StorableText.wellFormed(settlement.error());
    }

    private static <T> Object[] column(List<T> list, Function<T, @Nullable Object> field) {
        Object[] column = new Object[list.size()];
        for (int i = 0; i < column.length; i++) {
            column[i] = field.apply(list.get(i));
        }
        return column;
    }
}
