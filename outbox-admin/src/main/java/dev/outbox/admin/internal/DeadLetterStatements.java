package dev.outbox.admin.internal;

import java.util.Optional;

/** Statements about dead letters; each is the same for an outbox and an inbox. */
public interface DeadLetterStatements {
    /** A page, the newest first, from {@code at} and {@code id} on. */
    String newest();

    /** The page after {@link #newest}: those whose time of death is unknown, from {@code id} on. */
    String newestUnknown();

    /** A page, the oldest first, from {@code at}, {@code id} and {@code unknown_id} on. */
    String oldest();

    /** How many there are, up to {@code most}, and how many of them can be requeued. */
    String count();

    /**
     * Answers the ids of those that it requeued; where there is an {@link #endOfKey}, in the order of their keys, and
     * whether each {@code moves} to the end of its key.
     */
    String requeue();

    /** How items that were skipped go to the end of their keys; empty where they keep their place. */
    Optional<EndOfKeyStatements> endOfKey();

    /** Answers the ids of those that it removed. */
    String discardOutbox();

    /** Answers the ids of those that it made records of; they died between {@code first} and {@code last}. */
    String discardInbox();

    /** Statements in the transaction of a requeue. */
    interface EndOfKeyStatements {
        /** Before the requeue: takes {@code locks} in their order, between {@code entering} and {@code holding}. */
        String lockKeys();

        /** After the requeue: gives the item {@code id} a new sequence. */
        String moveToEnd();
    }
}
