package dev.outbox.internal;

import java.sql.SQLException;
import java.util.Set;

/**
 * Errors of SQL Server. Microsoft's driver answers SQLStates of its own for most of them, an S and a number that says nothing, so
 * the number of the error decides.
 */
final class SqlServerErrors implements DriverErrors {
    /**
     * Errors after which the same work may succeed: out of locks or memory (701, 1204, 8645, 8651),
     * deadlock, lock timeout, snapshot conflict (1205, 1222, 3906, 3960, 3961), shutting down or failing over (596, 921, 983,
     * 6005, 9001), and those that Azure SQL asks to retry.
     */
    private static final Set<Integer> TRANSIENT = Set.of(
            596, 615, 701, 921, 983, 1204, 1205, 1222, 3906, 3960, 3961, 4060, 4221, 6005, 8645, 8651, 9001, 10053,
            10054, 10060, 10928, 10929, 40143, 40197, 40501, 40540, 40613, 49918, 49919, 49920);

    /**
     * Errors whose text quotes values: conversions (241, 242, 245, 295, 8114, 8115), truncation (2628, 8152),
     * keys (2601, 2627), constraints (515, 547). From 50000 on a trigger or procedure of the user wrote it.
     */
    private static final Set<Integer> QUOTING =
            Set.of(241, 242, 245, 295, 515, 547, 2601, 2627, 2628, 8114, 8115, 8152);

    /** Errors after which the connection is gone. */
    private static final Set<Integer> LOST = Set.of(596, 6005, 10053, 10054, 10060, 40143, 40197, 40501, 40613);

    /** Whether this is one of them, or an error with a SQLState of the standard and one of these numbers. */
    static boolean have(SQLException e) {
        String state = String.valueOf(e.getSQLState());
        return state.startsWith("S") || QUOTING.contains(e.getErrorCode());
    }

    @Override
    public boolean isAnswer(SQLException e) {
        return e.getErrorCode() > 0 && !LOST.contains(e.getErrorCode());
    }

    @Override
    public boolean isTransient(SQLException e) {
        return TRANSIENT.contains(e.getErrorCode());
    }

    @Override
    public boolean quotesValues(SQLException e) {
        return QUOTING.contains(e.getErrorCode()) || e.getErrorCode() >= 50_000;
    }

    @Override
    public String name(SQLException e) {
        return "error " + e.getErrorCode() + ", SQLState " + e.getSQLState();
    }
}
