package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.queue.SettlementValues;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Settlement.Kind;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;

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
 * PostgresSettleFree} settles what nobody else has locked.
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

    private static final String LOCK_NOT_AVAILABLE = "55P03";

    /** The ends of so many claims go in one round trip without the bookkeeping of a mix. */
    private static final int MOST_TOKENS = 4;

    private final LeaseColumns columns;
    private final Sql settleIn;
    private final PinnedPlan doneIn;
    private final PinnedPlan settle;
    private final PostgresSettleFree settleFree;
    private final PostgresRenew renew;

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
        this.columns = new LeaseColumns(ids, ack == Ack.DELETE);
        String doneStatement = columns.deleteDone() ? DONE_DELETE : DONE_KEEP;
        this.settleIn = callers.resolve(SETTLE);
        this.doneIn = PinnedPlan.last(callers, doneStatement);
        this.settle = PinnedPlan.impatient(own, List.of(SETTLE));
        this.settleFree = new PostgresSettleFree(own, columns);
        this.renew = new PostgresRenew(own, columns);
        List<String> statements = new ArrayList<>();
        for (int token = 0; token < MOST_TOKENS; token++) {
            statements.add(doneStatement);
            done.add(PinnedPlan.impatient(own, statements));
            mixed.add(PinnedPlan.impatient(
                    own, Stream.concat(statements.stream(), Stream.of(SETTLE)).toList()));
        }
    }

    /** On a connection in auto-commit mode. */
    Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException {
        if (settleFree.areFree(settlements)) {
            try {
                return Unchanged.lost(settleAll(connection, settlements));
            } catch (SQLException e) {
                if (!LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
                    throw e;
                }
            }
        }
        return settleFree.run(connection, settlements);
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
            return settle.run(
                    connection,
                    query -> columns.setSettlements(query, settlements),
                    results -> fenced(settlements, results));
        }
        if (others.isEmpty()) {
            return done.get(claims.size() - 1)
                    .run(connection, query -> setDone(query, claims), results -> notDone(claims, results));
        }
        return mixed.get(claims.size() - 1)
                .run(
                        connection,
                        query -> {
                            setDone(query, claims);
                            columns.setSettlements(PinnedPlan.statement(query, claims.size()), others);
                        },
                        results -> {
                            Set<Lease> fenced = notDone(claims, results);
                            fenced.addAll(fenced(others, results));
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
                    query -> {
                        query.within(limit).set("token", UUID.fromString(lease.ownerToken()));
                        columns.setIds(query, List.of(lease.itemId()));
                    },
                    results -> results.next().next() ? Set.of() : Set.of(lease));
        }
        try (Query query = FreshPlan.of(settleIn, tx)) {
            columns.setSettlements(query.within(limit), settlements);
            return columns.unchanged(SettlementValues.leases(settlements), query.rows())
                    .lost();
        }
    }

    Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return renew.run(connection, leases, length);
    }

    private void setDone(Query query, List<Map.Entry<String, List<String>>> claims) throws SQLException {
        for (int i = 0; i < claims.size(); i++) {
            Query statement = PinnedPlan.statement(query, i);
            statement.set("token", UUID.fromString(claims.get(i).getKey()));
            columns.setIds(statement, claims.get(i).getValue());
        }
    }

    private Set<Lease> notDone(List<Map.Entry<String, List<String>>> claims, PinnedPlan.Results results)
            throws SQLException {
        Set<Lease> fenced = new HashSet<>();
        for (Map.Entry<String, List<String>> claim : claims) {
            try (ResultSet rows = results.next()) {
                columns.missing(claim.getValue(), rows).forEach(id -> fenced.add(new Lease(id, claim.getKey())));
            }
        }
        return fenced;
    }

    private Set<Lease> fenced(List<Settlement> settlements, PinnedPlan.Results results) throws SQLException {
        return columns.unchanged(SettlementValues.leases(settlements), results.next())
                .lost();
    }
}
