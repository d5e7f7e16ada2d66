package dev.outbox.postgres;

import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.postgresql.PGStatement;

/**
 * One or more statements as a transaction of their own, in a single round trip, each with a plan that does not
 * depend on what the planner believes about the table. In auto-commit mode the server runs what the driver sends together
 * as one transaction, so neither BEGIN nor COMMIT is sent.
 *
 * <p>A queue table is often empty, and the plan for an empty table reads all of it; kept while a burst comes
 * in, it makes a claim of 500 out of 100,000 take 20 s. Planning anew each time is safe but costs more than a
 * claim itself. So the statements are written for their indexes, and the settings here leave the planner
 * nothing else: one generic plan, kept by the driver's prepared statement, that goes by index. A join leaves
 * it the choice to go through the table first; so a joined table is also bounded by {@code = ANY}, or is read
 * by a subquery that is not pulled up. They are local
 * to the transaction, as is the isolation level, so a pooled connection goes back as it came.
 */
final class PinnedPlan {
    static final String SETTINGS = """
            SELECT statement_timestamp() AS at,
                set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true),
                set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)
            """;

    /**
     * For statements that join the table with what they were given. The planner expects few values in an array and would
     * compare each row with each value, a million times for a thousand of them; without nested loops it hashes or sorts.
     */
    static final String JOINING = SETTINGS + ", set_config('enable_nestloop', 'off', true)";

    /**
     * For statements that may meet rows, or a table, that somebody else has locked: they wait for a moment, in which a
     * short transaction ends, and then fail.
     */
    static final String IMPATIENT = JOINING + ", set_config('lock_timeout', '50ms', true)";

    /** Refuses to run in a transaction of another level: it could only be chosen before the settings. */
    private static final String READ_COMMITTED = ", set_config('transaction_isolation', 'read committed', true)";

    /** Prepared statements that the server does not know any more, knows already, or can no longer serve. */
    private static final Set<String> STALE = Set.of("26000", "42P05", "0A000");

    private final Sql sql;

    private PinnedPlan(Sql sql) {
        this.sql = sql;
    }

    static PinnedPlan of(Layout layout, String statement) {
        return of(layout, List.of(statement));
    }

    static PinnedPlan of(Layout layout, List<String> statements) {
        return of(layout, SETTINGS, statements);
    }

    /** Some that join the table with arrays and wait only for a moment: see {@link #JOINING}, {@link #IMPATIENT}. */
    static PinnedPlan impatient(Layout layout, List<String> statements) {
        return of(layout, IMPATIENT, statements);
    }

    /**
     * One whose commit does not wait for the disk, nor for a replica: for what a crash of the database may undo. An
     * undone claim is a lease that nobody has; its rows are Ready, and its worker's settles are fenced.
     */
    static PinnedPlan unflushed(Layout layout, List<String> statements) {
        return of(layout, SETTINGS + ", set_config('synchronous_commit', 'off', true)", statements);
    }

    private static PinnedPlan of(Layout layout, String settings, List<String> statements) {
        return together(layout, settings + READ_COMMITTED, statements);
    }

    private static PinnedPlan together(Layout layout, String settings, List<String> statements) {
        List<Sql> all = new ArrayList<>(List.of(layout.resolve(settings)));
        statements.forEach(statement -> all.add(layout.resolve(statement)));
        return new PinnedPlan(Sql.together(all));
    }

    /**
     * The last statement of a transaction that the caller has begun and will end; the settings stay until then. For {@link
     * #runIn}.
     */
    static PinnedPlan last(Layout layout, String statement) {
        return together(layout, SETTINGS, List.of(statement));
    }

    /** To set the parameters of one of the statements; the first one is 0. */
    static Query statement(Query query, int number) {
        return query.part(1 + number); // after the settings
    }

    interface Parameters {
        void set(Query query) throws SQLException;
    }

    interface Reader<T> {
        T read(Results results) throws SQLException;
    }

    /** The answers of the statements, in their order. */
    static final class Results {
        private final Query query;
        private final Instant at;

        private Results(Query query) throws SQLException {
            this.query = query;
            try (ResultSet settings = query.nextRows()) {
                settings.next();
                this.at = Timestamps.read(settings, "at");
            }
        }

        /** The server's clock when the transaction began. */
        Instant at() {
            return at;
        }

        ResultSet next() throws SQLException {
            return query.nextRows();
        }
    }

    /**
     * Runs it on a connection in auto-commit mode. By the time the answers are read it has committed. If the server could
     * not run what the driver had prepared, for a column's type has changed or a pooler has changed the session, it is
     * prepared anew and run again: nothing has happened yet.
     */
    <T> T run(Connection connection, Parameters parameters, Reader<T> reader) throws SQLException {
        try {
            return once(connection, parameters, reader);
        } catch (SQLException e) {
            if (!isStale(e) || e.getSuppressed().length > 0) {
                throw e;
            }
            return once(connection, parameters, reader);
        }
    }

    /**
     * Runs it in the transaction that is open on this connection, if any. After a failure the caller rolls back. The
     * driver prepares a statement anew if the server did not know it.
     */
    <T> T runIn(Connection tx, Parameters parameters, Reader<T> reader) throws SQLException {
        try (Query query = sql.on(tx).where(PGStatement.class, PinnedPlan::prepareAtOnce)) {
            parameters.set(query);
            query.execute();
            return reader.read(new Results(query));
        }
    }

    private <T> T once(Connection connection, Parameters parameters, Reader<T> reader) throws SQLException {
        try {
            return runIn(connection, parameters, reader);
        } catch (SQLException e) {
            if (isStale(e)) {
                forgetPrepared(connection, e);
            }
            throw e;
        }
    }

    /** Planning takes longer than most runs; but who told the driver never to prepare has a reason. */
    private static void prepareAtOnce(PGStatement statement) throws SQLException {
        if (statement.getPrepareThreshold() > 1) {
            statement.setPrepareThreshold(1);
        }
    }

    private static boolean isStale(SQLException failure) {
        return failure.getSQLState() != null && STALE.contains(failure.getSQLState());
    }

    private static void forgetPrepared(Connection connection, SQLException failure) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("DEALLOCATE ALL");
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
