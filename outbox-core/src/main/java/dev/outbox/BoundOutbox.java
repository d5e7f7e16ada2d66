package dev.outbox;

import java.util.Collection;

/**
 * An outbox that stores in whatever transaction is current, and wakes the pollers when it has committed.
 * Thread-safe, if the {@link CurrentTransaction} is.
 */
public final class BoundOutbox {
    private final Outbox outbox;
    private final CurrentTransaction current;

    BoundOutbox(Outbox outbox, CurrentTransaction current) {
        this.outbox = outbox;
        this.current = current;
    }

    /** As {@link Outbox#enqueue}, in the current transaction. */
    public Enqueued enqueue(Message message) {
        Enqueued enqueued = outbox.enqueue(current.connection(), message);
        current.afterCommit(outbox::wakeUp);
        return enqueued;
    }

    /** As {@link Outbox#enqueueAll}, in the current transaction. */
    public Enqueued enqueueAll(Collection<Message> messages) {
        Enqueued enqueued = outbox.enqueueAll(current.connection(), messages);
        current.afterCommit(outbox::wakeUp);
        return enqueued;
    }
}
