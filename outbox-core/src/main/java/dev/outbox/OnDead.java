package dev.outbox;

/** What a Dead message means for the later ones of its key. Messages without a key are never held back. */
public enum OnDead {
    /** They are delivered without it. If it is requeued, it comes after them. */
    SKIP,

    /** They wait, visibly, until somebody requeues or removes the Dead one: nothing may come after a gap. */
    BLOCK
}
