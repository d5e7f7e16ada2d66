package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import java.sql.SQLException;

/** What a caller is told if a lock was not granted. */
final class SqlServerLocks {
    private static final int DEADLOCK = 1205;
    private static final int LOCK_TIMEOUT = 1222;

    private SqlServerLocks() {}

    /**
     * A statement in the caller's transaction failed, maybe for a lock.
     *
     * @param what failed: "enqueue into outbox failed"
     */
    static OutboxException failure(String what, SQLException e) {
        return SqlFailure.of(
                switch (e.getErrorCode()) {
                    case DEADLOCK ->
                        what + ", and with it all of the transaction, which the server rolled back to end a"
                                + " deadlock; roll back and run all of it again";
                    case LOCK_TIMEOUT ->
                        what + ", because another transaction that holds the same message or key took"
                                + " too long; roll back and try again";
                    default -> what;
                },
                e);
    }

    /**
     * Refuses what {@code sp_getapplock} answers if it did not give a lock, so that nothing was stored. Zero and above mean
     * that it did.
     *
     * @param what failed: "enqueue into outbox failed"
     */
    static void check(String what, int code) {
        if (code < 0) {
            throw refused(what, code);
        }
    }

    static OutboxException refused(String what, int code) {
        boolean retryable = code >= -3 && code <= -1;
        String happened = switch (code) {
            case -1 -> "another transaction that holds the same key took too long; roll back and try again";
            case -2 -> "the wait for the lock of a key was cancelled; roll back and try again";
            case -3 -> "the lock of a key was refused to end a deadlock; roll back and try again";
            default -> "sp_getapplock refused the lock of a key; check that the user may execute it";
        };
        String message = what + ": " + happened + " [sp_getapplock " + code + "]";
        return new OutboxException(message, new SQLException(message, "40001", code), retryable);
    }
}
