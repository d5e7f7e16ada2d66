package dev.outbox;

/** How strictly enqueue keeps the order of messages with a key. Messages without a key are unordered. */
public enum Ordering {
    /**
     * Enqueue locks each key before it draws the sequence, until the end of the caller's transaction: for one key,
     * sequence order is commit order. Two transactions that enqueue the same keys in opposite order, in separate calls,
     * can deadlock; the database reports that as a retryable error. The default.
     *
     * <p>On PostgreSQL a transaction locks up to 250 keys one by one. If it has more, it locks all keys of the table: it
     * waits for the other transactions that store messages with keys there, and later ones wait until it ends. On SQL
     * Server keys share 1,024 locks per table.
     */
    STRICT,
    /**
     * Enqueue takes no lock. This is right where callers already serialise the writers of a key, for instance by locking the
     * row of the aggregate first. Otherwise the messages of two concurrent transactions with one key may be delivered in the
     * opposite order of their commits.
     */
    RELAXED
}
