package dev.outbox;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The database refused an operation, or could not carry it out. Unchecked, because a checked exception would make some
 * transaction managers commit the business data without its message.
 */
public class OutboxException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final boolean retryable;
    private final @Nullable String sqlState;
    private final int vendorCode;

    public OutboxException(String message) {
        super(message);
        this.retryable = false;
        this.sqlState = null;
        this.vendorCode = 0;
    }

    /** @param retryable whether the same work in a new transaction may succeed */
    public OutboxException(String message, Throwable cause, boolean retryable) {
        super(message, cause);
        this.retryable = retryable;
        this.sqlState = cause instanceof SQLException sql ? sql.getSQLState() : null;
        this.vendorCode = cause instanceof SQLException sql ? sql.getErrorCode() : 0;
    }

    /**
     * True if the same work in a new transaction may succeed: after a deadlock, a timeout, or the loss of the connection
     * before the commit. False for a commit whose outcome is unknown, see {@link UnknownCommitException}.
     */
    public boolean isRetryable() {
        return retryable;
    }

    /** The SQLState of the database error that caused this; null if there was none. */
    public @Nullable String sqlState() {
        return sqlState;
    }

    /** The vendor's code of the database error that caused this; 0 if there was none. */
    public int vendorCode() {
        return vendorCode;
    }
}
