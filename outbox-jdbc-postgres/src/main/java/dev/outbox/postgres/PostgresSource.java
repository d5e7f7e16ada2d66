package dev.outbox.postgres;

import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.jdbc.internal.claim.FreedKeys;
import dev.outbox.jdbc.internal.claim.WorkItemRow;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.queue.Heartbeats;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.NetworkLimit;
import dev.outbox.jdbc.internal.sql.StatementLimits;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL outbox or inbox table as a source. Each call is one statement on a borrowed connection in auto-commit
 * mode; the claim query is in {@link PostgresClaim}, settle and renew are in {@link PostgresSettle}.
 */
final class PostgresSource implements TransactionalSource {
    private static final String SERIALIZATION_FAILURE = "40001";

    /** What a pinned plan fails with under another isolation level: it is too late to set it. */
    private static final String LEVEL_IS_SET = "25001";

    private static final String READ_ONLY = "25006";

    private static final int EXPIRED_BATCH = 1_000;

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
            RETURNING {status} AS status, %s
            """.formatted(WorkItemRow.NAMING_COLUMNS);

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

    private final PostgresTable table;
    private final Connections connections;
    private final StatementLimits limits = new StatementLimits();
    private final ClaimCycle claiming;
    private final FreedKeys freed = new FreedKeys();

    /** What to note when the transaction of a handler commits. */
    private final Map<Connection, Runnable> handlers = new ConcurrentHashMap<>();

    private final PostgresSettle settle;
    private final ItemIds ids;

    /** Settles what was claimed by the message's id before the table had other ids; null if that cannot be. */
    private final @Nullable PostgresSettle settleByMessage;

    private final PostgresPurge purge;
    private final @Nullable PostgresPurge purgeDead;
    private final Heartbeats heartbeats;
    private final PinnedPlan expire;
    private final PinnedPlan nextDue;

    PostgresSource(PostgresTable table, SourceSettings settings) {
        this.table = table;
        this.connections = settings.connections();
        LongSupplier ticker = settings.ticker();
        Layout own = table.own();
        boolean byOld = table.phase().before(Phase.DUAL);
        boolean onItsWay = table.isInbox() && !byOld && table.phase() != Phase.CLEAN;
        ClaimCycle.Query claim = byOld
                ? new PostgresLegacyClaim(own, settings.serializer())
                : new PostgresClaim(table, settings.serializer(), freed, settings.arrivals(), ticker);
        this.ids = table.isInbox() && byOld ? ItemIds.MESSAGE_ID : ItemIds.WORK_ITEM;
        this.settle = new PostgresSettle(table.layout(), own, settings.ack(), ids);
        this.claiming = new ClaimCycle(this::expire, EXPIRED_BATCH, claim, settle::settle, ticker);
        this.settleByMessage = onItsWay
                ? new PostgresSettle(byMessage(table.layout()), byMessage(own), settings.ack(), ItemIds.MESSAGE_ID)
                : null;
        this.purge = PostgresPurge.ofDone(table, connections, settings.retention());
        Duration deadRetention = settings.deadRetention();
        this.purgeDead = deadRetention == null || byOld // which has no index for it
                ? null
                : PostgresPurge.ofDead(table, connections, deadRetention);
        this.heartbeats = new Heartbeats(connections, limits, ticker, new PostgresHeartbeat(table));
        this.expire = PinnedPlan.of(own, EXPIRE);
        this.nextDue = PinnedPlan.of(own, byOld ? PostgresLegacyClaim.NEXT_DUE : NEXT_DUE);
    }

    private static Layout byMessage(Layout layout) {
        return layout.with("work_item_id", Reading.column(layout.column("message_id")))
                .with("id_type", Reading.fixed(ItemIds.MESSAGE_ID.type()));
    }

    @Override
    public String name() {
        return table.name().toString();
    }

    @Override
    public Object queue() {
        return connections; // which all sources of an outbox or inbox have in common
    }

    @Override
    public Claim claim(ClaimRequest request) {
        limits.lease(request.lease());
        return run("claim from", limits.forClaim(), connection -> claiming.claim(connection, request));
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        if (settlements.isEmpty()) {
            return Unchanged.NONE;
        }
        Unchanged unchanged = run(
                "settle in",
                limits.forSettle(),
                connection -> byKind(settlements, Settlement::lease, (by, part) -> by.settle(connection, part)));
        freed.settled(settlements, unchanged);
        return unchanged;
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        try {
            if (settlements.isEmpty()) {
                return Set.of();
            }
            NetworkLimit limit = NetworkLimit.on(tx, limits.forSettle());
            try {
                Unchanged unchanged = byKind(
                        settlements,
                        Settlement::lease,
                        (by, part) -> Unchanged.lost(by.settleIn(tx, part, limits.forLock())));
                handlers.computeIfPresent(tx, (begun, nothing) -> () -> freed.settled(settlements, unchanged));
                return unchanged.lost();
            } finally {
                limit.close();
            }
        } catch (SQLException e) {
            throw SqlFailure.of("settle in " + table.name() + " failed", e);
        }
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        if (leases.isEmpty()) {
            return Unchanged.NONE;
        }
        Unchanged unchanged = run(
                "renew in",
                limits.forSettle(),
                connection -> byKind(leases, Function.identity(), (by, part) -> by.renew(connection, part, length)));
        freed.lost(unchanged.lost());
        return unchanged;
    }

    private interface Settling<T> {
        Unchanged with(PostgresSettle settle, List<T> part) throws SQLException;
    }

    /** Each with the statements that find its row; what no statement finds any more is lost. */
    private <T> Unchanged byKind(List<T> all, Function<T, Lease> lease, Settling<T> settling) throws SQLException {
        if (!table.isInbox() || table.phase() == Phase.CLEAN) {
            return settling.with(settle, all);
        }
        Map<Boolean, List<T>> usual = all.stream()
                .collect(Collectors.partitioningBy(
                        one -> ItemIds.of(lease.apply(one).itemId()) == ids));
        List<T> others = Objects.requireNonNull(usual.get(false));
        List<T> these = Objects.requireNonNull(usual.get(true));
        Unchanged unchanged = these.isEmpty() ? Unchanged.NONE : settling.with(settle, these);
        if (others.isEmpty()) {
            return unchanged;
        }
        Unchanged more = settleByMessage == null
                ? Unchanged.lost(others.stream().map(lease).collect(Collectors.toSet()))
                : settling.with(settleByMessage, others);
        return unchanged.and(more);
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return run(
                "look for due items in",
                limits.forClaim(),
                connection ->
                        nextDue.run(connection, query -> query.setArray("topics", "text", topics(topics)), results -> {
                            ResultSet row = results.next();
                            row.next();
                            long micros = row.getLong(1);
                            return row.wasNull() ? Optional.empty() : Optional.of(Duration.ofNanos(micros * 1_000));
                        }));
    }

    @Override
    public int purge() {
        int done = purge.batch(limits.forClaim());
        return done == PostgresPurge.BATCH || purgeDead == null ? done : done + purgeDead.batch(limits.forClaim());
    }

    @Override
    public void heartbeat(Heartbeat heartbeat) {
        heartbeats.note(heartbeat);
    }

    @Override
    public Optional<String> replacedIsolation() {
        return connections.replacedIsolation();
    }

    @Override
    public Transaction begin() {
        try {
            return new HandlersTransaction(connections.transactional(limits.forSettle()));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot open a transaction for " + table.name(), e);
        }
    }

    /** Notes what it has settled once that has committed. */
    private final class HandlersTransaction implements Transaction {
        private final Transaction transaction;

        HandlersTransaction(Transaction transaction) {
            this.transaction = transaction;
            handlers.put(transaction.connection(), () -> {});
        }

        @Override
        public Connection connection() {
            return transaction.connection();
        }

        @Override
        public void commit() throws SQLException {
            transaction.commit();
            Runnable settled = handlers.remove(connection());
            if (settled != null) {
                settled.run();
            }
        }

        @Override
        public void close() throws SQLException {
            handlers.remove(connection());
            transaction.close();
        }
    }

    private ClaimCycle.Expired expire(Connection connection, ClaimRequest request) throws SQLException {
        return expire.run(
                connection,
                query -> query.set("max_attempts", request.maxAttempts())
                        .set("blocking", request.onDead() == OnDead.BLOCK)
                        .set("batch", EXPIRED_BATCH)
                        .setArray("topics", "text", topics(request.topics())),
                results -> ClaimCycle.Expired.read(results.next()));
    }

    static Object @Nullable [] topics(Set<String> topics) {
        return topics.isEmpty() ? null : topics.toArray();
    }

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(String what, Duration limit, Work<T> work) {
        try {
            return once(limit, work);
        } catch (SQLException e) {
            if (!LEVEL_IS_SET.equals(e.getSQLState())) {
                throw failure(what, e);
            }
        }
        try {
            return once(limit, work); // now with the isolation it needs
        } catch (SQLException e) {
            throw failure(what, e);
        }
    }

    private <T> T once(Duration limit, Work<T> work) throws SQLException {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit)) {
            return on(borrowed.connection(), work);
        } catch (SQLException e) {
            if (SERIALIZATION_FAILURE.equals(e.getSQLState()) || LEVEL_IS_SET.equals(e.getSQLState())) {
                connections.distrustDefaults();
            }
            throw e;
        }
    }

    /** A connection to what is a replica now is broken, so that its pool opens one to the primary instead. */
    private static <T> T on(Connection connection, Work<T> work) throws SQLException {
        try {
            return work.on(connection);
        } catch (SQLException e) {
            if (READ_ONLY.equals(e.getSQLState())) {
                connection.abort(Runnable::run);
            }
            throw e;
        }
    }

    private OutboxException failure(String what, SQLException e) {
        return SqlFailure.of(what + " " + table.name() + " failed", e);
    }
}
