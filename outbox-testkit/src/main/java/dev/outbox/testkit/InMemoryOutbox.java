package dev.outbox.testkit;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Stage;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.internal.LocalWakeUp;
import dev.outbox.internal.CollectingStage;
import dev.outbox.internal.Require;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;

/**
 * An outbox in memory, for unit tests of code that enqueues, without a database. Messages are stored when the transaction of
 * the connection they were enqueued on commits, and never if it rolls back. The connections are those of its own {@link
 * #dataSource()}, which support transactions but no SQL.
 *
 * <pre>{@code
 * InMemoryOutbox outbox = new InMemoryOutbox();
 * outbox.transaction(outbox.dataSource(), tx -> outbox.enqueue(tx, Message.to("orders.placed").payload("{}")));
 * outbox.poller().to(destination).build().pollOnce();
 * assertThat(outbox).hasDelivered("orders.placed");
 * }</pre>
 *
 * <p>It runs on the time of a {@link ManualClock}, and so do its pollers. Messages need a payload, because there is no
 * serializer. Thread-safe.
 */
public final class InMemoryOutbox implements Outbox {
    private final ManualClock clock;
    private final InMemoryStore store;
    private final LocalWakeUp wakeUp = new LocalWakeUp();

    /** An outbox with a clock of its own. */
    public InMemoryOutbox() {
        this(new ManualClock());
    }

    public InMemoryOutbox(ManualClock clock) {
        this.clock = Require.present("clock", clock);
        this.store = new InMemoryStore(clock);
    }

    /** The clock that decides when items are due and leases run out. */
    public ManualClock clock() {
        return clock;
    }

    /** The store that holds the work items. */
    public InMemoryStore store() {
        return store;
    }

    /** Connections whose transactions hold messages and nothing else. */
    public DataSource dataSource() {
        return InMemoryConnection.dataSource(this::commit);
    }

    private void commit(List<Message> messages) {
        store.add(messages);
        wakeUp();
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return enqueueAll(tx, List.of(Require.present("message", message)));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        InMemoryConnection.Pending pending = pending(Require.present("tx", tx));
        Set<String> known = new HashSet<>(store.messageIds());
        pending.messages().forEach(message -> known.add(String.valueOf(message.id())));
        List<Message> fresh = new ArrayList<>();
        List<String> stored = new ArrayList<>();
        List<String> alreadyThere = new ArrayList<>();
        for (Message given : Require.present("messages", messages)) {
            Message message = InMemoryStore.identified(given);
            String id = String.valueOf(message.id());
            if (known.add(id)) {
                fresh.add(message);
                stored.add(id);
            } else {
                alreadyThere.add(id);
            }
        }
        pending.messages().addAll(fresh);
        return new Enqueued(stored, alreadyThere);
    }

    private static InMemoryConnection.Pending pending(Connection tx) {
        try {
            if (!tx.isWrapperFor(InMemoryConnection.Pending.class)) {
                throw new OutboxException("an in-memory outbox knows the transactions of its own connections only;"
                        + " take the connection from dataSource(), or test with a PostgresExtension");
            }
            if (tx.getAutoCommit()) {
                throw new OutboxException("enqueue needs an open transaction, but the connection is in auto-commit"
                        + " mode; call setAutoCommit(false) first");
            }
            return tx.unwrap(InMemoryConnection.Pending.class);
        } catch (SQLException e) {
            throw new OutboxException("enqueue failed: " + e.getMessage(), e, false);
        }
    }

    @Override
    public Stage stage() {
        return new CollectingStage(this, InMemoryStore::identified);
    }

    /** Returns the same data source: its commits wake the pollers anyway. */
    @Override
    public DataSource waking(DataSource dataSource) {
        return dataSource;
    }

    @Override
    public void wakeUp() {
        wakeUp.ring();
    }

    @Override
    public PollerBuilder poller() {
        return Poller.from(source()).ticker(clock::nanoTime).wakeUp(wakeUp);
    }

    @Override
    public Source source() {
        return store.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return store.purge(Require.notNegative("olderThan", olderThan));
    }
}
