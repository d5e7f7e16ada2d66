package dev.outbox.examples;

import jakarta.transaction.Status;
import jakarta.transaction.SystemException;
import jakarta.transaction.UserTransaction;
import java.sql.Connection;
import java.sql.SQLException;

/** A JTA server as an application sees it, with one connection that takes part in each of its transactions. */
final class OneConnectionTransaction implements UserTransaction {
    private final Connection connection;
    private int status = Status.STATUS_NO_TRANSACTION;

    OneConnectionTransaction(Connection connection) {
        this.connection = connection;
    }

    private interface Work {
        void run() throws SQLException;
    }

    private void run(Work work, int next) throws SystemException {
        try {
            work.run();
            status = next;
        } catch (SQLException e) {
            throw (SystemException) new SystemException("the connection failed").initCause(e);
        }
    }

    @Override
    public void begin() throws SystemException {
        run(() -> connection.setAutoCommit(false), Status.STATUS_ACTIVE);
    }

    @Override
    public void commit() throws SystemException {
        run(connection::commit, Status.STATUS_NO_TRANSACTION);
    }

    @Override
    public void rollback() throws SystemException {
        run(connection::rollback, Status.STATUS_NO_TRANSACTION);
    }

    @Override
    public void setRollbackOnly() {
        status = Status.STATUS_MARKED_ROLLBACK;
    }

    @Override
    public int getStatus() {
        return status;
    }

    @Override
    public void setTransactionTimeout(int seconds) {}
}
