package dev.outbox;

import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs work in a transaction on a connection of its own. What the work throws, an SQLException included,
 * is never mistaken for a failure of the transaction itself.
 */
final class OwnTransaction {
    private static final Logger LOG = LoggerFactory.getLogger(Outbox.class);

    private OwnTransaction() {}

    static <T, X extends Exception> T run(DataSource dataSource, TransactionWork<T, X> work) throws X {
        Require.present("dataSource", dataSource);
        Require.present("work", work);
        Connection tx = open(dataSource);
        boolean autoCommit = begin(tx);
        T answer;
        try {
            answer = work.in(tx);
            commit(tx);
        } catch (Throwable failure) {
            giveBack(tx, rollBack(tx, failure) && autoCommit);
            throw failure;
        }
        giveBack(tx, autoCommit);
        return answer;
    }

    private static Connection open(DataSource dataSource) {
        try {
            return dataSource.getConnection();
        } catch (SQLException e) {
            throw SqlFailure.of("the transaction could not be opened", e);
        }
    }

    /** @return whether auto-commit was on */
    private static boolean begin(Connection tx) {
        try {
            boolean autoCommit = tx.getAutoCommit();
            if (autoCommit) {
                tx.setAutoCommit(false);
            }
            return autoCommit;
        } catch (SQLException e) {
            giveBack(tx, false);
            throw SqlFailure.of("the transaction could not be opened", e);
        }
    }

    private static void commit(Connection tx) {
        try {
            tx.commit();
        } catch (SQLException e) {
            throw SqlFailure.ofCommit(e);
        }
    }

    /** @return whether the rollback succeeded: if not, turning auto-commit on could commit what was to be dropped */
    private static boolean rollBack(Connection tx, Throwable failure) {
        try {
            tx.rollback();
            return true;
        } catch (SQLException e) {
            failure.addSuppressed(e);
            return false;
        }
    }

    /** The transaction has ended: a connection that cannot be given back must not change the answer. */
    private static void giveBack(Connection tx, boolean autoCommit) {
        try (tx) {
            if (autoCommit) {
                tx.setAutoCommit(true);
            }
        } catch (SQLException e) {
            LOG.warn("a connection could not be given back after its transaction", e);
        }
    }
}
