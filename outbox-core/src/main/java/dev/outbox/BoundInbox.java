package dev.outbox;

import dev.outbox.internal.Require;
import java.util.Collection;
import java.util.List;

/**
 * An inbox that works in the current transaction, and wakes the pollers when that has committed. Thread-safe, if the
 * {@link CurrentTransaction} is.
 */
public final class BoundInbox {
    private final Inbox inbox;
    private final CurrentTransaction current;

    BoundInbox(Inbox inbox, CurrentTransaction current) {
        this.inbox = inbox;
        this.current = current;
    }

    /** As {@link Inbox#receive(java.sql.Connection, Incoming)}, in the current transaction. */
    public Receipt receive(Incoming incoming) {
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            return inbox.receive(connection.tx(), incoming);
        }
    }

    /** As {@link Inbox#receive(java.sql.Connection, Incoming, Effect)}, in the current transaction. */
    public <X extends Exception> Receipt receive(Incoming incoming, Effect<X> effect) throws X {
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            return inbox.receive(connection.tx(), incoming, effect);
        }
    }

    /** As {@link Inbox#enqueue}, in the current transaction. */
    public Receipt enqueue(Incoming incoming) {
        return enqueueAll(List.of(Require.present("incoming", incoming))).get(0);
    }

    /** As {@link Inbox#enqueueAll}, in the current transaction. */
    public List<Receipt> enqueueAll(Collection<Incoming> incoming) {
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            List<Receipt> receipts;
            try {
                receipts = inbox.enqueueAll(connection.tx(), incoming);
            } catch (ConflictException e) {
                // the others are stored, and the transaction may still commit
                connection.afterCommit(inbox::wakeUp);
                throw e;
            }
            if (receipts.stream().anyMatch(Receipt::isFirst)) {
                connection.afterCommit(inbox::wakeUp);
            }
            return receipts;
        }
    }

    /** As {@link Inbox#markDead}, in the current transaction. */
    public boolean markDead(String source, String messageId, String reason) {
        try (CurrentConnection connection = CurrentConnection.of(current)) {
            return inbox.markDead(connection.tx(), source, messageId, reason);
        }
    }
}
