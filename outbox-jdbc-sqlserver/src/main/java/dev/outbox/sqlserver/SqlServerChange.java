package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * A step of a migration that came between the making of a statement and its run.
 *
 * <p>A column has one name that can be written, and the flip of phase 3 changes it from one moment to the next. So a
 * statement of ours may name what is not there any more, even in a caller's transaction. On SQL Server that harms
 * nobody: a name that cannot be resolved is found when the statement is compiled, nothing of it is done, and the
 * transaction goes on, as long as XACT_ABORT is off, which our batches see to. So the table is looked at, on a
 * connection of our own, and the statement made anew is sent in the same transaction.
 */
final class SqlServerChange {
    /**
     * Whether the transaction is open, or was none yet. Where the caller wants errors to end transactions
     * (XACT_ABORT), one that is not there may have been ended by this very error.
     */
    static final String UNHARMED = """
            SELECT CASE WHEN XACT_STATE() = 1 OR XACT_STATE() = 0 AND @@OPTIONS & 16384 = 0 THEN 1 ELSE 0 END AS unharmed
            """;

    private SqlServerChange() {}

    /**
     * Whether this may be because the table has changed: no such column (207), a column that became an alias (271), no such
     * index (308) and others. Whether it has changed decides, so that no error is worth a list.
     */
    static boolean isBehind(OutboxException e) {
        return e.vendorCode() != 0 && !e.isRetryable();
    }

    /** Whether the caller's transaction survived. */
    static boolean isUnharmed(Connection tx) {
        try (Statement statement = tx.createStatement();
                ResultSet row = statement.executeQuery(UNHARMED)) {
            return row.next() && row.getInt("unharmed") == 1;
        } catch (SQLException e) {
            throw SqlFailure.of("cannot see whether the transaction goes on", e);
        }
    }
}
