package dev.outbox.jdbc.internal.inbox;

import dev.outbox.Incoming;
import dev.outbox.internal.CoreAccess;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One arrival of a message, checked. Two arrivals of the same message have equal identities, but are not equal. */
public final class Arrival {
    private final Identity identity;
    private final byte[] hash;
    private final @Nullable MessageRow row;

    private Arrival(Identity identity, byte[] hash, @Nullable MessageRow row) {
        this.identity = identity;
        this.hash = hash;
        this.row = row;
    }

    /** To be recorded only: the caller handles it. */
    static Arrival toRecord(Incoming incoming) {
        Identity identity = Identity.of(incoming);
        CoreAccess.checkReceivable(incoming);
        return new Arrival(identity, incoming.hash(), null);
    }

    /** To be stored for a handler. */
    static Arrival toStore(Incoming incoming, MessageRow.Rules rules) {
        Identity identity = Identity.of(incoming);
        MessageRow row = MessageRow.withNewId(incoming.message(), rules);
        return new Arrival(identity, incoming.hash(), row);
    }

    public Identity identity() {
        return identity;
    }

    public byte[] hash() {
        return hash;
    }

    /** Whether it is a work item for a handler, and not only a record. */
    public boolean isToStore() {
        return row != null;
    }

    /** The work item of one that is to be stored. */
    public MessageRow row() {
        return Objects.requireNonNull(row, "an arrival that is only recorded has no work item");
    }
}
