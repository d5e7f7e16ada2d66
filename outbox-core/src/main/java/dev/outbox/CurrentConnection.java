package dev.outbox;

import dev.outbox.CurrentTransaction.Completion;
import java.sql.Connection;

/** The connection of a current transaction for as long as one call uses it. */
record CurrentConnection(CurrentTransaction current, Connection tx) implements AutoCloseable {
    static CurrentConnection of(CurrentTransaction current) {
        return new CurrentConnection(current, current.connection());
    }

    /** Runs this once the transaction has committed; never if it rolls back or its end is unknown. */
    void afterCommit(Runnable action) {
        current.afterCompletion(completion -> {
            if (completion == Completion.COMMITTED) {
                action.run();
            }
        });
    }

    @Override
    public void close() {
        current.release(tx);
    }
}
