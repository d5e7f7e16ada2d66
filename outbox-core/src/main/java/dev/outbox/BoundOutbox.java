package dev.outbox;

import java.util.Collection;

/**
 * An outbox that stores messages in the current transaction, and wakes the pollers when that has committed. Thread-safe,
 * if the {@link CurrentTransaction} is.
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
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            return wakingAfter(connection, outbox.enqueue(connection.tx(), message));
        }
    }

    /** As {@link Outbox#enqueueAll}, in the current transaction. */
    public Enqueued enqueueAll(Collection<Message> messages) {
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            return wakingAfter(connection, outbox.enqueueAll(connection.tx(), messages));
        }
    }

    private Enqueued wakingAfter(CurrentConnection connection, Enqueued enqueued) {
        if (!enqueued.stored().isEmpty()) {
            connection.afterCommit(outbox::wakeUp);
        }
        return enqueued;
    }
}
