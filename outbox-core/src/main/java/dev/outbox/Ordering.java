package dev.outbox;

/** How far the order of messages with a key is guarded at enqueue. Messages without a key are unordered. */
public enum Ordering {
    /**
     * Enqueue takes a lock, held to the end of the caller's transaction, for each bucket its keys fall
     * into, before the sequence is drawn: for one key, sequence order is commit order. Two transactions
     * that enqueue the same keys in opposite order can deadlock; the database's own retryable error says
     * so. The default.
     */
    STRICT,
    /**
     * No lock. Right where callers already serialise writers of one key, for instance by locking the
     * aggregate's row first; otherwise two concurrent transactions of one key may be delivered in the
     * opposite order of their commits.
     */
    RELAXED
}
