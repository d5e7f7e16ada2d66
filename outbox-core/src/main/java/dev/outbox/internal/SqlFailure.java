package dev.outbox.internal;

import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;

/** Judges driver exceptions by SQLState and {@linkplain DriverErrors error number}, never by message text. */
public final class SqlFailure {
    private SqlFailure() {}

    /**
     * The driver's exception in our words. It is not kept as the cause, but a copy of it without the details:
     * those may quote the row, and with it the payload, and would end up in a log.
     *
     * @param what failed, as the start of a sentence: "enqueue into outbox failed"
     */
    public static OutboxException of(String what, SQLException e) {
        return new OutboxException(what + ": " + describe(e), withoutDetails(e), isRetryable(e));
    }

    /**
     * The same for a commit. If the server answered that it failed, it did; if the connection was lost before an answer
     * came, it may have succeeded.
     */
    public static OutboxException ofCommit(SQLException e) {
        if (!isAnswer(e)) {
            return new UnknownCommitException(
                    "the commit got no answer, so the transaction may have been committed; before you run it again, look"
                            + " for its effects: " + describe(e),
                    withoutDetails(e));
        }
        return of("the commit failed", e);
    }

    private static SQLException withoutDetails(SQLException e) {
        SQLException cause = new SQLException(describe(e), e.getSQLState(), e.getErrorCode());
        cause.setStackTrace(e.getStackTrace());
        if (e.getCause() != null && !(e.getCause() instanceof SQLException)) {
            cause.initCause(e.getCause());
        }
        return cause;
    }

    /** Whether the server itself refused, and the session lived on: then nothing was committed. */
    private static boolean isAnswer(SQLException e) {
        String state = e.getSQLState();
        if (state == null
                || state.length() < 2
                || e instanceof SQLRecoverableException
                || e instanceof SQLTimeoutException) {
            return false;
        }
        return DriverErrors.of(e).isAnswer(e);
    }

    /** True if the same work in a new transaction, maybe on a new connection, may succeed. */
    public static boolean isRetryable(SQLException e) {
        if (e instanceof SQLTransientException || e instanceof SQLRecoverableException) {
            return true;
        }
        String state = e.getSQLState();
        return state != null && state.length() >= 2 && DriverErrors.of(e).isTransient(e);
    }

    /** The first line only, because details may quote the row; not even that if it may quote the row too. */
    private static String describe(SQLException e) {
        DriverErrors errors = DriverErrors.of(e);
        if (errors.quotesValues(e)) {
            return "the database refused the row [" + errors.name(e) + "]";
        }
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return (end < 0 ? message : message.substring(0, end)) + " [SQLState " + e.getSQLState() + "]";
    }
}
