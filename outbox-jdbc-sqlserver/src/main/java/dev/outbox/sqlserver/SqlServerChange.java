package dev.outbox.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * A step of a migration that comes between the making of a statement and its run.
 *
 * <p>A column has one name that can be written, and the flip of phase 3 changes it from one moment to the next. So a
 * statement of ours may name what is not there any more, even in a caller's transaction. On SQL Server that harms
 * nobody: a name that cannot be resolved is found when the statement is compiled, nothing of it is done, and the
 * transaction goes on, unless XACT_ABORT is on, which our batches turn off; where the whole batch is refused before it
 * begins, what the caller has set counts. So the table is looked at, on a connection of our own, and the statement made
 * anew is sent in the same transaction.
 *
 * <p>Whether the transaction goes on is asked, not assumed: a caller must not commit the second half of its work. To
 * tell one that has ended from one that has not begun, it is begun first, while the table is on its way: one more round
 * trip, which a canonical table does not need.
 */
final class SqlServerChange {
    /**
     * Reading a table opens the transaction, which the driver has only announced; this names no column, and waits for
     * nobody.
     */
    static final String BEGIN =
            "SELECT COUNT(*) AS found FROM (SELECT TOP (1) 1 AS one FROM {table} WITH (READUNCOMMITTED)) probe";

    static final String STATE = "SELECT XACT_STATE() AS state";

    private SqlServerChange() {}

    /**
     * Whether this may be because the table has changed: no such column (207), a column that became an alias (271), no such
     * index (308) and others. Whether it has changed decides, so that no error is worth a list.
     */
    static boolean isBehind(OutboxException e) {
        return e.vendorCode() != 0 && !e.isRetryable();
    }

    /** In a caller's transaction, before a statement that names columns of a table that is not canonical yet. */
    static void begin(Connection tx, SqlServerTable table) {
        if (table.phase() != Phase.CLEAN) {
            run(tx, table.layout().resolve(BEGIN).text());
        }
    }

    /** Whether the caller's transaction goes on. */
    static boolean isUnharmed(Connection tx) {
        return run(tx, STATE) == 1;
    }

    private static int run(Connection tx, String query) {
        try (PreparedStatement statement = tx.prepareStatement(query);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot check whether the transaction is still open", e);
        }
    }
}
