package dev.outbox;

import dev.outbox.internal.Require;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Runs work in a transaction on a connection of its own. */
final class OwnTransaction {
    private OwnTransaction() {}

    static <T, X extends Exception> T run(DataSource dataSource, TransactionWork<T, X> work) throws X {
        Require.present("work", work);
        try (Connection tx = Require.present("dataSource", dataSource).getConnection()) {
            boolean autoCommit = tx.getAutoCommit();
            if (autoCommit) {
                tx.setAutoCommit(false);
            }
            T answer;
            try {
                answer = work.in(tx);
            } catch (Throwable failure) {
                rollBack(tx, autoCommit, failure);
                throw failure;
            }
            commit(tx);
            if (autoCommit) {
                tx.setAutoCommit(true);
            }
            return answer;
        } catch (SQLException e) {
            throw new OutboxException("the transaction could not be opened or closed: " + e.getMessage(), e, true);
        }
    }

    /** A commit that fails may have happened: only ids given by the caller make a repetition safe. */
    private static void commit(Connection tx) {
        try {
            tx.commit();
        } catch (SQLException e) {
            throw new OutboxException("the commit failed: " + e.getMessage(), e, true);
        }
    }

    private static void rollBack(Connection tx, boolean autoCommit, Throwable failure) {
        try {
            tx.rollback();
            if (autoCommit) {
                tx.setAutoCommit(true);
            }
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
