package dev.outbox;

import dev.outbox.internal.Require;
import java.time.Instant;

/**
 * The answer of an inbox to one arrival of a message.
 *
 * @param firstSeen when the message came for the first time, by the database's clock
 * @param lastSeen when it came last, this arrival included
 * @param receipts how often it came, this arrival included; conflicting arrivals are not counted
 */
public record Receipt(Kind kind, Instant firstSeen, Instant lastSeen, int receipts) {
    /** How an arrival compares to what is known. */
    public enum Kind {
        /** Never seen before, or only in transactions that rolled back. */
        FIRST,
        /** Seen before. */
        DUPLICATE,
        /** The id was seen before, but with another hash: it is another message. See {@link OnConflict}. */
        CONFLICT
    }

    public Receipt {
        Require.present("kind", kind);
        Require.present("firstSeen", firstSeen);
        Require.present("lastSeen", lastSeen);
    }

    /** Whether the message came for the first time, so that its effect must be written. */
    public boolean isFirst() {
        return kind == Kind.FIRST;
    }
}
