package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.jdbc.internal.claim.ClaimStatement;
import dev.outbox.jdbc.internal.claim.ClaimedRows;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.queue.Heartbeats;
import dev.outbox.jdbc.internal.queue.SourceSettings;
import dev.outbox.jdbc.internal.queue.SourceStatements;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The statements of a source over a PostgreSQL table, each in a class of its own. */
final class PostgresSourceStatements implements SourceStatements {
    private static final String SERIALIZATION_FAILURE = "40001";

    /** What a pinned plan fails with under another isolation level: it is too late to set it. */
    private static final String LEVEL_IS_SET = "25001";

    private static final String READ_ONLY = "25006";

    private final PostgresTable table;
    private final Connections connections;
    private final PostgresExpire expire;
    private final ClaimStatement claim;
    private final PostgresSettle settle;
    private final ItemIds ids;

    /** Settles what was claimed by the message's id before the table had other ids; null if that cannot be. */
    private final @Nullable PostgresSettle settleByMessage;

    private final PostgresNextDue nextDue;
    private final PostgresPurge purge;
    private final @Nullable PostgresPurge purgeDead;

    PostgresSourceStatements(PostgresTable table, SourceSettings settings) {
        this.table = table;
        this.connections = settings.connections();
        Layout own = table.own();
        boolean byOld = table.phase().before(Phase.DUAL);
        boolean onItsWay = table.isInbox() && !byOld && table.phase() != Phase.CLEAN;
        this.expire = new PostgresExpire(table);
        this.claim = byOld ? new PostgresLegacyClaim(own, settings.serializer()) : new PostgresClaim(table, settings);
        this.ids = table.isInbox() && byOld ? ItemIds.MESSAGE_ID : ItemIds.WORK_ITEM;
        this.settle = new PostgresSettle(table.layout(), own, settings.ack(), ids);
        this.settleByMessage = onItsWay
                ? new PostgresSettle(byMessage(table.layout()), byMessage(own), settings.ack(), ItemIds.MESSAGE_ID)
                : null;
        this.nextDue = new PostgresNextDue(table);
        this.purge = PostgresPurge.ofDone(table, connections, settings.retention());
        Duration deadRetention = settings.deadRetention();
        this.purgeDead = deadRetention == null || byOld // which has no index for it
                ? null
                : PostgresPurge.ofDead(table, connections, deadRetention);
    }

    private static Layout byMessage(Layout layout) {
        return layout.with("work_item_id", Reading.column(layout.column("message_id")))
                .with("id_type", Reading.fixed(ItemIds.MESSAGE_ID.type()));
    }

    @Override
    public ClaimCycle.Expired expire(Connection connection, ClaimRequest request) throws SQLException {
        return expire.run(connection, request);
    }

    @Override
    public ClaimedRows claim(Connection connection, ClaimRequest request) throws SQLException {
        return claim.run(connection, request);
    }

    @Override
    public Unchanged settle(Connection connection, List<Settlement> settlements) throws SQLException {
        return byKindOfId(settlements, Settlement::lease, (by, part) -> by.settle(connection, part));
    }

    @Override
    public Set<Lease> settleIn(Connection tx, List<Settlement> settlements, Duration lockLimit) throws SQLException {
        return byKindOfId(
                        settlements, Settlement::lease, (by, part) -> Unchanged.lost(by.settleIn(tx, part, lockLimit)))
                .lost();
    }

    @Override
    public Unchanged renew(Connection connection, List<Lease> leases, Duration length) throws SQLException {
        return byKindOfId(leases, Function.identity(), (by, part) -> by.renew(connection, part, length));
    }

    private interface Part<T> {
        Unchanged with(PostgresSettle settle, List<T> some) throws SQLException;
    }

    /** Each with the statements that find its row; what no statement finds any more is lost. */
    private <T> Unchanged byKindOfId(List<T> all, Function<T, Lease> lease, Part<T> part) throws SQLException {
        if (!table.isInbox() || table.phase() == Phase.CLEAN) {
            return part.with(settle, all);
        }
        Map<Boolean, List<T>> usual = all.stream()
                .collect(Collectors.partitioningBy(
                        one -> ItemIds.of(lease.apply(one).itemId()) == ids));
        List<T> others = Objects.requireNonNull(usual.get(false));
        List<T> these = Objects.requireNonNull(usual.get(true));
        Unchanged unchanged = these.isEmpty() ? Unchanged.NONE : part.with(settle, these);
        if (others.isEmpty()) {
            return unchanged;
        }
        Unchanged more = settleByMessage == null
                ? Unchanged.lost(others.stream().map(lease).collect(Collectors.toSet()))
                : part.with(settleByMessage, others);
        return unchanged.and(more);
    }

    @Override
    public Optional<Duration> nextDue(Connection connection, Set<String> topics) throws SQLException {
        return nextDue.run(connection, topics);
    }

    @Override
    public int purge(Duration limit) {
        int done = purge.batch(limit);
        return done == PostgresPurge.BATCH || purgeDead == null ? done : done + purgeDead.batch(limit);
    }

    @Override
    public Heartbeats.Statements heartbeats() {
        return new PostgresHeartbeat(table);
    }

    @Override
    public void begin(Connection tx) {}

    @Override
    public OutboxException settleFailure(SQLException e) {
        return SqlFailure.of("settle in " + table.name() + " failed", e);
    }

    /** A connection to what is a replica now is broken, so that its pool opens one to the primary instead. */
    @Override
    public boolean afterFailure(Connection connection, SQLException e) throws SQLException {
        String state = e.getSQLState();
        if (READ_ONLY.equals(state)) {
            connection.abort(Runnable::run);
        }
        if (SERIALIZATION_FAILURE.equals(state) || LEVEL_IS_SET.equals(state)) {
            connections.distrustDefaults(); // the next connection gets the isolation that it needs
        }
        return LEVEL_IS_SET.equals(state);
    }
}
