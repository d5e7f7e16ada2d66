package dev.outbox.jdbc.internal.sql;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import java.sql.Connection;
import java.sql.SQLException;

/** The caller's connection, which must be in a transaction that may write. */
public final class CallersTransaction {
    private CallersTransaction() {}

    /** @param what wants it: "enqueue" */
    public static void check(String what, Connection tx) {
        Require.present("tx", tx);
        try {
            if (tx.isClosed()) {
                throw new OutboxException(what + " needs an open transaction, but the connection is closed");
            }
            if (tx.getAutoCommit()) {
                throw new OutboxException(what + " needs an open transaction, but the connection is in auto-commit"
                        + " mode; call setAutoCommit(false) first");
            }
            if (tx.isReadOnly()) {
                throw new OutboxException(what
                        + " needs a transaction that may write, but the connection is read-only; call"
                        + " setReadOnly(false) before the transaction starts");
            }
        } catch (SQLException e) {
            throw SqlFailure.of(what + " failed", e);
        }
    }
}
