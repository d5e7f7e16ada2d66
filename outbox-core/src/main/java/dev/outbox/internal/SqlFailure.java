package dev.outbox.internal;

import dev.outbox.OutboxException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;

/** Judges driver exceptions by SQLState, never by message text. */
public final class SqlFailure {
    private SqlFailure() {}

    /**
     * The driver's exception in our words. It is not kept as the cause, but a copy of it without the details:
     * those may quote the row, and with it the payload, and would end up in a log.
     *
     * @param what failed, as the start of a sentence: "enqueue into outbox failed"
     */
    public static OutboxException of(String what, SQLException e) {
        String description = describe(e);
        SQLException cause = new SQLException(description, e.getSQLState(), e.getErrorCode());
        cause.setStackTrace(e.getStackTrace());
        if (e.getCause() != null && !(e.getCause() instanceof SQLException)) {
            cause.initCause(e.getCause());
        }
        return new OutboxException(what + ": " + description, cause, isRetryable(e));
    }

    /** True if the same work in a new transaction, maybe on a new connection, may succeed. */
    public static boolean isRetryable(SQLException e) {
        if (e instanceof SQLTransientException || e instanceof SQLRecoverableException) {
            return true;
        }
        String state = e.getSQLState();
        if (state == null || state.length() < 2) {
            return false;
        }
        return switch (state.substring(0, 2)) {
            // connection, transaction rollback (serialization, deadlock), out of resources
            case "08", "40", "53" -> true;
            // lock not available; query cancelled, server shutting down or starting
            default -> state.equals("55P03") || state.startsWith("57");
        };
    }

    /**
     * The first line only: details may quote the row. So may the first line where a value was refused (class
     * 22) or somebody's trigger wrote it (P0).
     */
    private static String describe(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith("22") || state.startsWith("P0")) {
            return "the database refused the row [SQLState " + state + "]";
        }
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return (end < 0 ? message : message.substring(0, end)) + " [SQLState " + state + "]";
    }
}
