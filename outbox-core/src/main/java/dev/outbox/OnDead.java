package dev.outbox;

/** What a Dead message means for the later ones of its key. Messages without a key are never held back. */
public enum OnDead {
    /** The later messages are delivered without it. If it is requeued, it comes after them. */
    SKIP,

    /**
     * The later messages wait until an operator, who sees the blocked key, requeues or discards the Dead one: no message
     * is delivered after a gap.
     */
    BLOCK
}
