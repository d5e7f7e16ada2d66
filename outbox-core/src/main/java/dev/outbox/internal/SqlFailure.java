package dev.outbox.internal;

import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import java.sql.SQLException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientException;
import java.util.Set;

/**
 * Judges driver exceptions by SQLState, never by message text. Microsoft's driver answers SQLStates of its own for most
 * errors, an S and a number that says nothing; there the number of the error decides.
 */
public final class SqlFailure {
    /**
     * Errors of SQL Server after which the same work may succeed: out of locks or memory (701, 1204, 8645, 8651),
     * deadlock, lock timeout, snapshot conflict (1205, 1222, 3906, 3960, 3961), shutting down or failing over (596, 921, 983,
     * 6005, 9001), and those that Azure SQL asks to retry.
     */
    private static final Set<Integer> TRANSIENT = Set.of(
            596, 615, 701, 921, 983, 1204, 1205, 1222, 3906, 3960, 3961, 4060, 4221, 6005, 8645, 8651, 9001, 10053,
            10054, 10060, 10928, 10929, 40143, 40197, 40501, 40540, 40613, 49918, 49919, 49920);

    /**
     * Errors of SQL Server whose text quotes values: conversions (241, 242, 245, 295, 8114, 8115), truncation (2628, 8152),
     * keys (2601, 2627), constraints (515, 547). From 50000 on a trigger or procedure of the user wrote it.
     */
    private static final Set<Integer> QUOTING =
            Set.of(241, 242, 245, 295, 515, 547, 2601, 2627, 2628, 8114, 8115, 8152);

    /** Errors of SQL Server after which the connection is gone. */
    private static final Set<Integer> LOST = Set.of(596, 6005, 10053, 10054, 10060, 40143, 40197, 40501, 40613);

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
        if (isOfSqlServer(state)) {
            return e.getErrorCode() > 0 && !LOST.contains(e.getErrorCode());
        }
        return !state.startsWith("08") && !state.startsWith("57") && !state.startsWith("HY") && !state.equals("40003");
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
        if (isOfSqlServer(state)) {
            return TRANSIENT.contains(e.getErrorCode());
        }
        return switch (state.substring(0, 2)) {
            // connection, transaction rollback (serialization, deadlock), out of resources
            case "08", "40", "53" -> true;
            // a primary that became a replica; lock not available; query cancelled, server shutting down or starting
            default -> state.equals("25006") || state.equals("55P03") || state.startsWith("57");
        };
    }

    private static boolean isOfSqlServer(String state) {
        return state.startsWith("S");
    }

    /**
     * The first line only: details may quote the row. So may the first line where a value was refused (class
     * 22) or a trigger of the user wrote it (P0).
     */
    private static String describe(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        if (state.startsWith("22") || state.startsWith("P0")) {
            return "the database refused the row [SQLState " + state + "]";
        }
        int number = e.getErrorCode();
        if (QUOTING.contains(number) || (isOfSqlServer(state) && number >= 50_000)) {
            return "the database refused the row [error " + number + ", SQLState " + state + "]";
        }
        String message = String.valueOf(e.getMessage());
        int end = message.indexOf('\n');
        return (end < 0 ? message : message.substring(0, end)) + " [SQLState " + state + "]";
    }
}
