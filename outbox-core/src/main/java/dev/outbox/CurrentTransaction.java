package dev.outbox;

import java.sql.Connection;
import java.util.function.Consumer;

/**
 * The transaction that is under way on this thread, wherever a framework keeps it: Spring, Hibernate, jOOQ, Jakarta
 * Transactions. With {@link Outbox#in} the call site needs no connection. How to write one for a framework is in
 * {@code docs/how-to/use-your-transaction.md}.
 *
 * <p>A call of a {@link BoundOutbox} takes the connection, uses it, registers an action for the end of the transaction if
 * it stored something, and releases the connection; all of that on the caller's thread.
 */
public interface CurrentTransaction {
    /** How a transaction ended. */
    enum Completion {
        /** It committed. */
        COMMITTED,
        /** It rolled back. */
        ROLLED_BACK,
        /** Its outcome is unknown, for instance because the connection was lost during the commit. */
        UNKNOWN
    }

    /**
     * The connection of the transaction, which stays the framework's: the library neither commits nor closes it. Called
     * for every message: where a framework writes its changes only at the commit, as Hibernate does, an implementation
     * makes sure here that they are flushed before it.
     *
     * @throws IllegalStateException if no transaction is under way
     */
    Connection connection();

    /**
     * Takes back a connection that {@link #connection()} gave. Called once for each, before the call that took it returns
     * or throws, on the same thread; the transaction goes on. What it throws reaches the caller, unless the call failed
     * itself: then it is suppressed. Default: does nothing, which is right where the transaction keeps its connection until
     * it ends. An implementation that counts the uses of a connection, or opens a handle for each, overrides it.
     */
    default void release(Connection connection) {}

    /**
     * Runs an action once when the transaction has ended, and tells it how. The transaction is the outermost one: if only a
     * savepoint or a nested transaction is rolled back, the action stays registered. Actions run in the order in which they
     * were registered, after the commit or the rollback, on whichever thread ended the transaction. They are short, do not
     * use the connection and throw nothing.
     *
     * @throws IllegalStateException if no transaction is under way
     */
    void afterCompletion(Consumer<Completion> action);
}
