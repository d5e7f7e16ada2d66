package dev.outbox.jdbc.internal.queue;

import java.sql.Connection;
import java.sql.SQLException;

/** A connection that can run something after its transaction has committed. */
public interface AfterCommit {
    /** Runs it once, after the next commit; a rollback forgets it. */
    void afterCommit(Runnable action);

    /** Runs it after the next commit if this connection can, and otherwise never. */
    static void on(Connection connection, Runnable action) throws SQLException {
        if (connection.isWrapperFor(AfterCommit.class)) {
            connection.unwrap(AfterCommit.class).afterCommit(action);
        }
    }
}
