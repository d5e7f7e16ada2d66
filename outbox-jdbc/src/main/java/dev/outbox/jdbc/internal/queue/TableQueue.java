package dev.outbox.jdbc.internal.queue;

import dev.outbox.Message;
import dev.outbox.WorkQueue;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.internal.LocalWakeUp;
import dev.outbox.delivery.internal.Purging;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.claim.Arrivals;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * What an outbox and an inbox in a table have in common: sources, pollers, wake-ups and purge. Building it looks at the table
 * once; after that no call reads the catalog in a caller's transaction. Thread-safe.
 *
 * @param <T> what the database knows of a table
 */
abstract class TableQueue<T extends LiveTable.Seen> implements WorkQueue {
    private final DatabaseStatements<T> statements;
    private final TableSettings settings;
    private final Connections connections;
    private final LiveTable<T> table;
    private final Arrivals arrivals = new Arrivals();
    private final LocalWakeUp localWakeUp = new LocalWakeUp();
    private final @Nullable RemoteWakeUp remoteWakeUp;

    /** One object, so that many enqueues of a transaction wake once. */
    private final Runnable wakeAll = this::wakeUp;

    /** @param consumer who receives through the inbox; null for an outbox */
    TableQueue(DatabaseStatements<T> statements, TableSettings settings, @Nullable String consumer) {
        this.statements = statements;
        this.settings = settings;
        this.connections = new Connections(settings.dataSource());
        this.table = look(consumer);
        this.remoteWakeUp = statements.remoteWakeUp(table.now(), settings);
        table.watch(settings.refreshInterval());
    }

    private LiveTable<T> look(@Nullable String consumer) {
        try (Connection connection = settings.dataSource().getConnection()) {
            T found = statements.find(connection, settings.name(), consumer);
            connections.learnDefaults(connection);
            return new LiveTable<>(
                    connections,
                    (again, name) -> statements.findAgain(again, name, consumer),
                    statements::mayHaveChanged,
                    found);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look at table " + settings.name(), e);
        }
    }

    final LiveTable<T> table() {
        return table;
    }

    final Connections connections() {
        return connections;
    }

    @Override
    public PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source()).ticker(settings.ticker()).wakeUp(localWakeUp);
        if (remoteWakeUp != null) {
            poller.wakeUp(wake -> remoteWakeUp.subscribe(() -> {
                arrivals.storedAny();
                wake.run();
            }));
        }
        settings.listeners().forEach(poller::listener);
        return poller;
    }

    @Override
    public TransactionalSource source() {
        Function<T, TransactionalSource> source = found -> {
            SourceSettings ofSource = settings.ofSource(connections, arrivals);
            return new TableSource(found.name(), ofSource, statements.source(found, ofSource));
        };
        return table.isSettled() ? source.apply(table.now()) : new AdaptingSource(table, table.per(source));
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return WakingDataSource.around(Require.present("dataSource", dataSource));
    }

    @Override
    public void wakeUp() {
        arrivals.committed();
        if (settings.wakesLocally()) {
            localWakeUp.ring();
        }
        if (remoteWakeUp != null) {
            remoteWakeUp.send();
        }
    }

    @Override
    public long purge(Duration olderThan) {
        Duration age = Require.notNegative("olderThan", olderThan);
        Supplier<IntSupplier> purge = table.per(found -> statements.purge(found, connections, age));
        return Purging.byHand().run(() -> table.adapting(() -> purge.get().getAsInt()));
    }

    /** What a call does in the caller's transaction. */
    interface Work<V> {
        V run() throws SQLException;
    }

    /**
     * Runs this in the caller's transaction, and once more if it failed only because a migration has changed the table.
     *
     * @param what is done: "enqueue into"
     */
    final <V> V inTransaction(String what, Connection tx, Work<V> work) {
        return table.adapting(() -> run(what, work), () -> statements.isUnharmed(tx));
    }

    private <V> V run(String what, Work<V> work) {
        try {
            return work.run();
        } catch (SQLException e) {
            throw statements.failure(what + " " + table.now().name() + " failed", e);
        }
    }

    /** Notes what was stored, and wakes the pollers once the transaction has committed, if its connection tells. */
    final void stored(Connection tx, Collection<Message> messages) throws SQLException {
        if (!messages.isEmpty()) {
            arrivals.stored(messages);
            AfterCommit.on(tx, wakeAll);
        }
    }
}
