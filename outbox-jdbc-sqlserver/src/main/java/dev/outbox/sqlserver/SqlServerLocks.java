package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import java.sql.SQLException;

/** What {@code sp_getapplock} may answer where it did not give the lock. Zero and above mean that it did. */
final class SqlServerLocks {
    private SqlServerLocks() {}

    /**
     * The lock was not given, so nothing was stored.
     *
     * @param what failed: "enqueue into outbox failed"
     */
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
