package dev.outbox.jdbc.internal;

import dev.outbox.OutboxException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientException;

/** Turns driver exceptions into {@link OutboxException}, judging by SQLState, never by message text. */
public final class DatabaseErrors {
    private DatabaseErrors() {}

    /** @param what failed, as the start of a sentence: "enqueue into outbox failed" */
    public static OutboxException of(String what, SQLException e) {
        return new OutboxException(what + ": " + describe(e), e, isRetryable(e));
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
     * The first line only: details may quote the row, and with it the payload. So may the first line where a
     * value was refused (class 22) or somebody's trigger wrote it (P0).
     */
    private static String describe(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith("22") || state.startsWith("P0")) {
            return "the database refused the row, see the cause [SQLState " + state + "]";
        }
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return (end < 0 ? message : message.substring(0, end)) + " [SQLState " + e.getSQLState() + "]";
    }
}
