package dev.outbox;

import dev.outbox.internal.Require;
import java.sql.Connection;
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
public interface Outbox extends WorkQueue {
    /**
     * Stores one message in this transaction, in one round trip. Never commits or rolls back.
     *
     * @throws OutboxException if the connection cannot be used (auto-commit, closed, read-only) or the database refused;
     *     nothing was stored
     * @throws IllegalArgumentException if the message cannot be stored; nothing was sent
     */
    Enqueued enqueue(Connection tx, Message message);

    /** Stores these messages in this transaction, in their order, in one round trip however many they are. */
    Enqueued enqueueAll(Connection tx, Collection<Message> messages);

    /** A new stage for one unit of work: it collects messages now and stores them when it is flushed. */
    Stage stage();

    /** This outbox for call sites that have no connection at hand. */
    default BoundOutbox in(CurrentTransaction current) {
        return new BoundOutbox(this, Require.present("current", current));
    }
}
