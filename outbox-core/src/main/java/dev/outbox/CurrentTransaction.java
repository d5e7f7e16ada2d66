package dev.outbox;

import java.sql.Connection;

/**
 * The transaction that is under way on this thread, wherever a framework keeps it: Spring, Hibernate, jOOQ.
 * With {@link Outbox#in} the call site needs no connection. How to write one for a framework is in
 * {@code docs/how-to/use-your-transaction.md}.
 */
public interface CurrentTransaction {
    /**
     * The connection of the transaction, which stays the framework's: it is neither committed nor closed here. Called
     * for every message: where a framework writes its changes only at the commit, as Hibernate does, an implementation
     * makes sure here that they are flushed before it.
     *
     * @throws IllegalStateException if no transaction is under way
     */
    Connection connection();

    /** Runs this once the transaction has committed, and never if it rolls back. */
    void afterCommit(Runnable action);
}
