package dev.outbox;

import java.sql.Connection;
import java.util.function.Consumer;

/**
 * The transaction that is under way on this thread, wherever a framework keeps it: Spring, Hibernate, jOOQ, Jakarta
 * Transactions. With {@link Outbox#in} the call site needs no connection. {@code docs/how-to/use-your-transaction.md}
 * shows how to implement it for a framework.
 *
 * <p>A call of a {@link BoundOutbox} takes the connection, uses it, registers an action for the end of the transaction
 * if it stored something, and releases the connection, all on the caller's thread.
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
     * The connection of the transaction. It still belongs to the framework: the library neither commits nor closes it.
     * The library calls this method for every message. If the framework writes its changes only at the commit, as
     * Hibernate does, the implementation ensures here that they are flushed before the commit.
     *
     * @throws IllegalStateException if no transaction is under way
     */
    Connection connection();

    /**
     * Takes back a connection that {@link #connection()} returned; the transaction goes on. The library calls this
     * method once for each connection, on the same thread, before the call that took the connection returns or throws.
     * An exception of this method reaches the caller; if the call itself failed, it is added to that exception as
     * suppressed. The default does nothing, which is right if the transaction keeps its connection until it ends.
     * Override it if you count the uses of a connection, or open a handle for each.
     */
    default void release(Connection connection) {}

    /**
     * Runs an action once when the transaction has ended, and passes it the outcome. Only the outermost transaction
     * counts: if a savepoint or a nested transaction is rolled back, the action stays registered. Actions run in the
     * order in which they were registered, after the commit or the rollback, on the thread that ended the transaction.
     * They are short, do not use the connection and throw nothing.
     *
     * @throws IllegalStateException if no transaction is under way
     */
    void afterCompletion(Consumer<Completion> action);
}
