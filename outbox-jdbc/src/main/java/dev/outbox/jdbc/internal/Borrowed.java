package dev.outbox.jdbc.internal;

import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;

/** A borrowed connection that goes back in the state it came. */
public final class Borrowed implements TransactionalSource.Transaction {
    private final Connection connection;
    private final boolean autoCommitBefore;
    private final int isolationBefore;

    Borrowed(Connection connection, boolean autoCommit, boolean setIsolation) throws SQLException {
        this.connection = connection;
        boolean ready = false;
        try {
            this.autoCommitBefore = connection.getAutoCommit();
            this.isolationBefore = setIsolation ? connection.getTransactionIsolation() : Connection.TRANSACTION_NONE;
            if (setIsolation && isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
                endReading();
                connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            }
            if (autoCommitBefore != autoCommit) {
                connection.setAutoCommit(autoCommit);
            }
            ready = true;
        } finally {
            if (!ready) {
                connection.close();
            }
        }
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void commit() throws SQLException {
        connection.commit();
    }

    @Override
    public void close() throws SQLException {
        try (Connection back = connection) {
            if (back.isClosed()) {
                return;
            }
            if (!back.getAutoCommit()) {
                back.rollback();
            }
            if (isolationBefore != Connection.TRANSACTION_NONE
                    && isolationBefore != Connection.TRANSACTION_READ_COMMITTED) {
                back.setTransactionIsolation(isolationBefore);
            }
            if (back.getAutoCommit() != autoCommitBefore) {
                back.setAutoCommit(autoCommitBefore);
            }
        }
    }

    /** Asking for the isolation opened a transaction where auto-commit is off; it cannot be changed inside. */
    private void endReading() throws SQLException {
        if (!autoCommitBefore) {
            connection.rollback();
        }
    }
}
