package dev.outbox;

import dev.outbox.internal.Require;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import javax.sql.DataSource;

/**
 * Stores messages in the caller's transaction, so that they are delivered if and only if it commits.
 *
 * <pre>{@code
 * try (Connection tx = dataSource.getConnection()) {
 *   tx.setAutoCommit(false);
 *   orders.insert(tx, order);
 *   outbox.enqueue(tx, Message.to("orders.placed").key(order.id()).payload(json));
 *   tx.commit();
 * }
 * }</pre>
 *
 * <p>Thread-safe; one instance per table serves the whole application.
 */
public interface Outbox {
    /**
     * Stores one message in this transaction, in one round trip. Never commits or rolls back.
     *
     * @throws OutboxException if the connection cannot take it (auto-commit, closed, read-only) or the
     *     database refused; nothing was stored
     * @throws IllegalArgumentException if the message cannot be stored; nothing was sent
     */
    Enqueued enqueue(Connection tx, Message message);

    /** Stores all of these in this transaction, in one round trip whatever their number, in their order. */
    Enqueued enqueueAll(Connection tx, Collection<Message> messages);

    /** A stage for one unit of work: collects messages now, stores them when it is flushed. */
    Stage stage();

    /** This outbox for call sites that have no connection at hand. */
    default BoundOutbox in(CurrentTransaction current) {
        return new BoundOutbox(this, Require.present("current", current));
    }

    /**
     * Runs the work in a transaction of its own on this data source: commits it and, if it enqueued something,
     * wakes the pollers; or rolls back if the work throws, and throws that on. The connection goes back as it
     * came.
     *
     * @throws OutboxException if the transaction could not be opened or committed
     */
    default <T, X extends Exception> T transaction(DataSource dataSource, TransactionWork<T, X> work) throws X {
        return OwnTransaction.run(waking(dataSource), work);
    }

    /**
     * A data source whose connections wake the pollers after each commit of a transaction that enqueued
     * something: for code that keeps its own transactions on plain connections.
     */
    DataSource waking(DataSource dataSource);

    /** Has the pollers of this outbox look now: call it after a commit that enqueued something. */
    void wakeUp();

    /** A poller over this outbox, still to be given a destination. */
    PollerBuilder poller();

    /** A new source over this outbox, for one poller or a loop of one's own. */
    Source source();

    /**
     * Removes Done items that were finished longer ago than this, in batches. Pollers do it by themselves
     * with the configured retention; this is for people who want it now.
     *
     * @return how many were removed
     */
    long purge(Duration olderThan);
}
