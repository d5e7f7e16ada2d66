package dev.outbox;

/** What a Dead message means for the later ones of its key. Messages without a key are never held back. */
public enum OnDead {
    /** The later messages are delivered without it. If it is requeued, it comes after them. */
    SKIP,

    /** The later messages wait visibly until an operator requeues or discards the Dead one: nothing may come after a gap. */
    BLOCK
}
