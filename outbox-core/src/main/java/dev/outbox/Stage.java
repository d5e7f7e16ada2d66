package dev.outbox;

import dev.outbox.internal.Require;
import java.sql.Connection;

/**
 * Collects the messages of one unit of work and stores them when its transaction is about to commit.
 *
 * <pre>{@code
 * Stage stage = outbox.stage();
 * stage.add(Message.to("orders.placed").body(placed));     // anywhere, no connection needed
 * ...
 * stage.flush(tx);
 * tx.commit();
 * stage.committed();
 * }</pre>
 *
 * <p>A message goes through three states. It is <em>staged</em> by {@link #add}, with the id it keeps. A flush makes
 * staged messages <em>pending</em>, in their order, by encoding and checking them, and then stores all pending ones in
 * one statement, which skips ids that the table holds already. They leave the stage only when {@link #committed} is
 * called. Therefore:
 *
 * <ul>
 *   <li>If a message cannot be encoded, nothing is written by that flush; the messages before it are pending,
 *       it and those behind it are staged.
 *   <li>After a rollback, a failed flush or a commit of unknown outcome, flush again in the next transaction:
 *       nothing is lost, and nothing is stored twice while its row exists. With {@link Ack#DELETE} a row is
 *       gone once delivered, so that a repetition after an unknown outcome may be delivered again, by the same
 *       id.
 *   <li>Dropping the stage drops what was not committed, like the rest of the unit of work.
 * </ul>
 *
 * <p>Not thread-safe: one stage belongs to one unit of work. It has no limit of its own.
 */
public interface Stage {
    /**
     * Stages a message. Its body, if it has one, is encoded at the flush, in its state at that time.
     *
     * @return the message with its id: the given one, or a new UUIDv7
     */
    Message add(Message message);

    /**
     * Stores, in this transaction, every message that is not known to be committed: in one round trip, in the order in
     * which the messages were added. Never commits or rolls back. May be called again in the same transaction, for
     * instance after more was added.
     *
     * @return which messages were stored now, and which the table held already
     * @throws IllegalArgumentException if a message cannot be stored; nothing was sent
     * @throws OutboxException as {@link Outbox#enqueueAll}
     */
    Enqueued flush(Connection tx);

    /** As {@link #flush(Connection)} in the current transaction, and {@link #committed} once it has committed. */
    default Enqueued flush(CurrentTransaction current) {
        try (CurrentConnection connection = CurrentConnection.of(Require.present("current", current))) {
            Enqueued enqueued = flush(connection.tx());
            connection.afterCommit(this::committed);
            return enqueued;
        }
    }

    /**
     * Forgets the messages that the last flush wrote, and wakes the pollers. Call it when the transaction of that flush has
     * committed, and only then. Messages that the flush did not write stay: it failed, or they were added later.
     */
    void committed();

    /** True if no message waits for a flush or for {@link #committed}. */
    boolean isEmpty();

    /** A new stage that prepares messages as this one does, and stores them through another outbox that wraps this one's. */
    Stage through(Outbox outbox);
}
