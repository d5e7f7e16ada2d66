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
        return wakingAfter(outbox.enqueue(current.connection(), message));
    }

    /** As {@link Outbox#enqueueAll}, in the current transaction. */
    public Enqueued enqueueAll(Collection<Message> messages) {
        return wakingAfter(outbox.enqueueAll(current.connection(), messages));
    }

    private Enqueued wakingAfter(Enqueued enqueued) {
        if (!enqueued.stored().isEmpty()) {
            current.afterCommit(outbox::wakeUp);
        }
        return enqueued;
    }
}
