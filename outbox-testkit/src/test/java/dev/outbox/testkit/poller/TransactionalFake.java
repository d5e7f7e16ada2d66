package dev.outbox.testkit.poller;

import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.TransactionalSource;
import dev.outbox.testkit.ForwardingSource;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Transactions over a source in memory: effects and settlements wait for the commit. */
class TransactionalFake extends ForwardingSource implements TransactionalSource {
    /** Effects whose transaction committed. */
    final List<String> committed = new CopyOnWriteArrayList<>();

    /** Transactions that were not closed yet. */
    final AtomicInteger open = new AtomicInteger();

    volatile Runnable afterCommit = () -> {};

    private final Map<Connection, Tx> transactions = new ConcurrentHashMap<>();
    private volatile boolean commitFails;

    TransactionalFake(Source source) {
        super(source);
    }

    void effect(Connection tx, String effect) {
        transactions.get(tx).effects.add(effect);
    }

    void failNextCommit() {
        commitFails = true;
    }

    @Override
    public Transaction begin() {
        Tx tx = new Tx();
        transactions.put(tx.connection, tx);
        open.incrementAndGet();
        return tx;
    }

    /** Renewing tells whether the leases are still held, and changes nothing else. */
    @Override
    public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
        Set<Lease> fenced = renew(settlements.stream().map(Settlement::lease).toList(), Duration.ofSeconds(30))
                .lost();
        if (fenced.isEmpty()) {
            transactions.get(tx).settlements.addAll(settlements);
        }
        return fenced;
    }

    private final class Tx implements Transaction {
        private final List<String> effects = new ArrayList<>();
        private final List<Settlement> settlements = new ArrayList<>();
        private final Connection connection = (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, args) -> switch (method.getName()) {
                    case "hashCode" -> System.identityHashCode(proxy);
                    case "equals" -> proxy == args[0];
                    case "toString" -> "a connection";
                    default -> throw new UnsupportedOperationException(method.getName());
                });

        @Override
        public Connection connection() {
            return connection;
        }

        @Override
        public void commit() throws SQLException {
            if (commitFails) {
                commitFails = false;
                throw new SQLException("commit failed");
            }
            settle(settlements);
            committed.addAll(effects);
            afterCommit.run();
        }

        @Override
        public void close() {
            transactions.remove(connection);
            open.decrementAndGet();
        }
    }
}
