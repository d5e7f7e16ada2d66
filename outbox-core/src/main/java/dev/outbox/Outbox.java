package dev.outbox;

import dev.outbox.spi.Source;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;

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
