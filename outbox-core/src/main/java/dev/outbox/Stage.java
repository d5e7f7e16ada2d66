package dev.outbox;

import dev.outbox.internal.Require;
import dev.outbox.internal.UuidV7;
import java.sql.Connection;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.UnaryOperator;

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
 * <p>A message goes through three states. It is <em>staged</em> by {@link #add}, with the id it keeps. A flush
 * makes staged messages <em>pending</em>, in their order, by encoding and checking them, and then stores all
 * pending ones in one statement, which passes over ids that are there already. They leave the stage only when
 * {@link #committed} says so. Therefore:
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
public final class Stage {
    private final Outbox outbox;
    private final UnaryOperator<Message> prepare;
    private final Deque<Message> staged = new ArrayDeque<>();
    private final List<Message> pending = new ArrayList<>();

    /** How many of the pending ones, from the first, the last flush wrote. */
    private int written;

    private Stage(Outbox outbox, UnaryOperator<Message> prepare) {
        this.outbox = outbox;
        this.prepare = prepare;
    }

    /**
     * For implementations of {@link Outbox#stage}.
     *
     * @param prepare encodes and checks a message as enqueue does, without a connection; throws what enqueue
     *     would throw
     */
    public static Stage over(Outbox outbox, UnaryOperator<Message> prepare) {
        return new Stage(Require.present("outbox", outbox), Require.present("prepare", prepare));
    }

    /** A new stage that prepares messages as this one does, and stores them through another outbox that wraps this one's. */
    public Stage through(Outbox outbox) {
        return over(outbox, prepare);
    }

    /**
     * Stages a message. Its body, if it has one, is encoded at the flush, in the state it is in then.
     *
     * @return the message with its id: the given one, or a new UUIDv7
     */
    public Message add(Message message) {
        Message named = Require.present("message", message).id() == null
                ? message.id(UuidV7.next().toString())
                : message;
        staged.add(named);
        return named;
    }

    /**
     * Stores everything that is not known to be committed in this transaction, in one round trip, in the order
     * it was added. Never commits or rolls back. May be called again in the same transaction, for instance
     * after more was added.
     *
     * @return what was stored now, and what the table held already
     * @throws IllegalArgumentException if a message cannot be stored; nothing was sent
     * @throws OutboxException as {@link Outbox#enqueueAll}
     */
    public Enqueued flush(Connection tx) {
        // Whatever an earlier flush wrote may have been rolled back since.
        written = 0;
        for (Message next = staged.peek(); next != null; next = staged.peek()) {
            pending.add(prepare.apply(next));
            staged.remove();
        }
        Enqueued enqueued = outbox.enqueueAll(tx, pending);
        written = pending.size();
        return enqueued;
    }

    /** As {@link #flush(Connection)} in the current transaction, and {@link #committed} once it has committed. */
    public Enqueued flush(CurrentTransaction current) {
        Enqueued enqueued = flush(Require.present("current", current).connection());
        current.afterCommit(this::committed);
        return enqueued;
    }

    /**
     * To be called when the transaction of the last flush has committed, and only then: forgets what that flush
     * wrote, and wakes the pollers. Messages that it did not write, because it failed or they were added later,
     * stay.
     */
    public void committed() {
        pending.subList(0, written).clear();
        written = 0;
        outbox.wakeUp();
    }

    /** True if nothing waits for a flush or for the news of a commit. */
    public boolean isEmpty() {
        return staged.isEmpty() && pending.isEmpty();
    }
}
