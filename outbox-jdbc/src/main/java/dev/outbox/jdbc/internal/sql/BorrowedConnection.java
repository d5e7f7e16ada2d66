package dev.outbox.jdbc.internal.sql;

import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A borrowed connection that goes back in the state it came. */
public final class BorrowedConnection implements TransactionalSource.Transaction {
    private final Connection connection;
    private final boolean autoCommitBefore;
    private final int isolationBefore;
    private final Duration limit;

    /** In force all the time, but not while a handler works; null then. */
    private @Nullable NetworkLimit network;

    BorrowedConnection(Connection connection, boolean autoCommit, boolean setIsolation, Duration limit)
            throws SQLException {
        this.connection = connection;
        this.limit = limit;
        boolean ready = false;
        try {
            limit();
            this.autoCommitBefore = connection.getAutoCommit();
            this.isolationBefore = setIsolation ? connection.getTransactionIsolation() : Connection.TRANSACTION_NONE;
            if (setIsolation && isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
                endReading();
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            if (autoCommitBefore != autoCommit) {
                connection.setAutoCommit(autoCommit);
            }
            if (!autoCommit) {
                unlimit();
            }
            ready = true;
        } finally {
            if (!ready) {
                giveBack();
            }
        }
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void commit() throws SQLException {
        limit();
        connection.commit();
    }

    @Override
    public void close() throws SQLException {
        try {
            if (!connection.isClosed()) {
                limit();
                restore();
            }
        } finally {
            giveBack();
        }
    }

    private void restore() throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.rollback();
        }
        if (isolationBefore != Connection.TRANSACTION_NONE
                && isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
            connection.setTransactionIsolation(isolationBefore);
        }
        if (connection.getAutoCommit() != autoCommitBefore) {
            connection.setAutoCommit(autoCommitBefore);
        }
    }

    private void giveBack() throws SQLException {
        try {
            unlimit();
        } finally {
            connection.close();
        }
    }

    private void limit() throws SQLException {
        if (network == null && !limit.isZero()) {
            network = NetworkLimit.on(connection, limit);
        }
    }

    private void unlimit() throws SQLException {
        if (network != null) {
            network.close();
            network = null;
        }
    }

    /** Asking for the isolation opened a transaction where auto-commit is off; it cannot be changed inside. */
    private void endReading() throws SQLException {
        if (!autoCommitBefore) {
            connection.rollback();
        }
    }
}
