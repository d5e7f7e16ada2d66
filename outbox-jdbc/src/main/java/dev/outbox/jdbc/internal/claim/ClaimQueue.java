package dev.outbox.jdbc.internal.claim;

/** The queues in which unfinished rows wait to be claimed. Each has an index of its own, and a claim asks one at a time. */
public enum ClaimQueue {
    /** No key, never attempted, due at once; in the order of the sequence. */
    READY,

    /** No key, delayed or given back; in the order of the due time. */
    WAITING,

    /** With a key. */
    KEYS
}
