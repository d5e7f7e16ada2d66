package dev.outbox.jdbc.internal.queue;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.claim.ClaimCycle;
import dev.outbox.jdbc.internal.claim.FreedKeys;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * An outbox or inbox table as a source, whatever the database. Each call is one round trip on a borrowed connection in
 * auto-commit mode, by the database's own statements.
 */
public final class TableSource implements TransactionalSource {
    private final TableName name;
    private final Connections connections;
    private final SourceStatements statements;
    private final FreedKeys freed;
    private final ClaimCycle claims;
    private final Heartbeats heartbeats;
    private final StatementLimits limits = new StatementLimits();

    /** What to note when the transaction of a handler commits. */
    private final Map<Connection, Runnable> handlers = new ConcurrentHashMap<>();

    public TableSource(TableName name, SourceSettings settings, SourceStatements statements) {
        this.name = name;
        this.connections = settings.connections();
        this.statements = statements;
        this.freed = settings.freed();
        this.claims = new ClaimCycle(statements, settings.ticker());
        this.heartbeats = new Heartbeats(connections, limits, settings.ticker(), statements.heartbeats());
    }

    @Override
    public String name() {
        return name.toString();
    }

    @Override
    public Object queue() {
        return connections; // which all sources of an outbox or inbox have in common
    }

    @Override
    public Claim claim(ClaimRequest request) {
        limits.lease(request.lease());
        return run("claim from", limits.forClaim(), connection -> claims.claim(connection, request));
    }

    @Override
    public Unchanged settle(List<Settlement> settlements) {
        if (settlements.isEmpty()) {
            return Unchanged.NONE;
        }
        Unchanged unchanged =
                run("settle in", limits.forSettle(), connection -> statements.settle(connection, settlements));
        freed.settled(settlements, unchanged);
        return unchanged;
    }

    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        if (settlements.isEmpty()) {
            return Set.of();
        }
        try {
            NetworkLimit limit = NetworkLimit.on(tx, limits.forSettle());
            try {
                Set<Lease> lost = statements.settleIn(tx, settlements, limits.forLock());
                handlers.computeIfPresent(
                        tx, (begun, nothing) -> () -> freed.settled(settlements, Unchanged.lost(lost)));
                return lost;
            } finally {
                limit.close();
            }
        } catch (SQLException e) {
            throw statements.settleFailure(e);
        }
    }

    @Override
    public Unchanged renew(List<Lease> leases, Duration length) {
        if (leases.isEmpty()) {
            return Unchanged.NONE;
        }
        Unchanged unchanged =
                run("renew in", limits.forSettle(), connection -> statements.renew(connection, leases, length));
        freed.lost(unchanged.lost());
        return unchanged;
    }

    @Override
    public Optional<Duration> nextDue(Set<String> topics) {
        return run("look for due items in", limits.forClaim(), connection -> statements.nextDue(connection, topics));
    }

    @Override
    public int purge() {
        return statements.purge(limits.forClaim());
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
            BorrowedConnection tx = connections.transactional(limits.forSettle());
            boolean begun = false;
            try {
                statements.begin(tx.connection());
                begun = true;
                return new HandlersTransaction(tx);
            } finally {
                if (!begun) {
                    tx.close();
                }
            }
        } catch (SQLException e) {
            throw SqlFailure.of("cannot open a transaction for " + name, e);
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

    private interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    private <T> T run(String what, Duration limit, Work<T> work) {
        try {
            return attempt(limit, work, true);
        } catch (SQLException e) {
            throw SqlFailure.of(what + " " + name + " failed", e);
        }
    }

    private <T> T attempt(Duration limit, Work<T> work, boolean isFirst) throws SQLException {
        try (BorrowedConnection borrowed = connections.autoCommitting(limit)) {
            try {
                return work.on(borrowed.connection());
            } catch (SQLException e) {
                boolean mayBeRepeated = statements.afterFailure(borrowed.connection(), e);
                if (!mayBeRepeated || !isFirst) {
                    throw e;
                }
            }
        }
        return attempt(limit, work, false);
    }
}
