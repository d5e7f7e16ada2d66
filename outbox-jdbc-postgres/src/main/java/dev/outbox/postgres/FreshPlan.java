package dev.outbox.postgres;

import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGStatement;

/**
 * Statements that are planned at each run, by how large the table is at that moment: those in a caller's
 * transaction, whose settings {@link PinnedPlan} must not touch, and rare ones.
 *
 * <p>After some runs the driver would prepare them, and the server settle for one plan. A queue table is often
 * empty, and the plan for an empty table reads all of it; kept while a burst comes in, it makes a claim of
 * 500 out of 100,000 take 20 s, until autovacuum analyzes the table.
 */
final class FreshPlan {
    private FreshPlan() {}

    static Query of(Sql sql, Connection connection) throws SQLException {
        return sql.on(connection).where(PGStatement.class, statement -> statement.setPrepareThreshold(0));
    }
}
