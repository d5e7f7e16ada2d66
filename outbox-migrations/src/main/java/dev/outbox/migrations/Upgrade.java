package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Takes one legacy table to the canonical layout, phase by phase, while applications work it.
 *
 * <p>Each step is plain SQL made for the columns that were found: {@link #apply} runs it, {@link #render} prints the same
 * for a DBA. Every step may be repeated; a step that must not run yet refuses, and says why. Which database it is, the
 * data source tells. Immutable and thread-safe.
 */
public final class Upgrade {
    /** PostgreSQL asks an autovacuum that is in the way to leave after a second of waiting ({@code deadlock_timeout}). */
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(1_300);

    /** The longest suffix is that of a check while names settle. */
    private static final int MAX_TABLE = 63 - "_one_payload_new".length();

    /** @param quietFor how long nobody may have written old columns alone */
    record Options(Duration lockTimeout, Duration patience, Duration refreshInterval, Duration quietFor) {}

    private final TableName name;
    private final Kind kind;
    private final @Nullable String consumer;
    private final Options options;

    private Upgrade(TableName name, Kind kind, @Nullable String consumer, Options options) {
        this.name = name;
        this.kind = kind;
        this.consumer = consumer;
        this.options = options;
    }

    /**
     * The upgrade of an outbox.
     *
     * @param table {@code name} or {@code schema.name}
     */
    public static Upgrade outbox(String table) {
        return new Upgrade(name(table), Kind.OUTBOX, null, defaults());
    }

    /**
     * The upgrade of an inbox.
     *
     * @param consumer whose the rows of the legacy table are, which had only one
     */
    public static Upgrade inbox(String table, String consumer) {
        return new Upgrade(name(table), Kind.INBOX, Require.present("consumer", consumer), defaults());
    }

    private static TableName name(String table) {
        TableName name = TableName.parse(Require.present("table", table));
        if (name.name().length() > MAX_TABLE) {
            throw new IllegalArgumentException("table must have at most " + MAX_TABLE
                    + " characters, so that what goes with it can be named after it, was \"" + name.name()
                    + "\"; rename it first");
        }
        return name;
    }

    private static Options defaults() {
        return new Options(LOCK_TIMEOUT, Duration.ofMinutes(5), Phase.REFRESH_INTERVAL, Duration.ofMinutes(10));
    }

    /**
     * How often the applications look for the phase (default {@link Phase#REFRESH_INTERVAL}): phases 3 and 4 wait for
     * twice as long since the one before, and so does the way back to phase 0.
     */
    public Upgrade refreshInterval(Duration interval) {
        return with(new Options(options.lockTimeout, options.patience, interval, options.quietFor));
    }

    /** How long nobody may have written old columns alone before phases 3 and 4 (default ten minutes). */
    public Upgrade quietFor(Duration length) {
        return with(new Options(options.lockTimeout, options.patience, options.refreshInterval, length));
    }

    /**
     * How long a change waits for a lock before it steps back (default 1.3 seconds), because everybody else waits
     * behind it, and for how long it tries again (default five minutes). What is built beside others waits for their
     * transactions: on PostgreSQL as long as that, for nobody queues up behind it; on SQL Server half as long again as a
     * change, and is tried again.
     */
    public Upgrade lockTimeout(Duration timeout, Duration patience) {
        return with(new Options(timeout, patience, options.refreshInterval, options.quietFor));
    }

    private Upgrade with(Options changed) {
        return new Upgrade(name, kind, consumer, changed);
    }

    /** The table's name, as it was given. */
    public String table() {
        return name.toString();
    }

    /** The phase the table is in. */
    public Phase phase(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return isSqlServer(connection)
                    ? SqlServerLegacyTable.read(connection, name, kind, consumer)
                            .phase()
                    : LegacyTable.read(connection, name, kind).phase();
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** Where the table is, what is wrong with it, and what is in the way to the phases to come. */
    public TableReport report(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return report(connection);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** {@link #report(DataSource)} on this connection, which is left as it is. */
    public TableReport report(Connection connection) throws SQLException {
        return isSqlServer(connection)
                ? new SqlServerVerifier(
                                connection, SqlServerLegacyTable.read(connection, name, kind, consumer), options)
                        .report()
                : new Verifier(connection, LegacyTable.read(connection, name, kind), consumer, options).report();
    }

    private static boolean isSqlServer(Connection connection) throws SQLException {
        return Database.of(connection) == Database.SQLSERVER;
    }

    /**
     * The SQL that {@link #apply} would run on this table, for people to read and run themselves.
     *
     * @throws OutboxException if no script can be made for such a table; on SQL Server also if something is in the way
     *     that the script would not ask again, which is everything but rows and how long the table is in its phase
     */
    public String render(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            TableReport report = report(connection);
            if (isSqlServer(connection) && phase != Phase.RENAMING) {
                check(notAskedAgain(report), phase);
            } else if (phase == Phase.ADDITIVE && report.phase() == Phase.LEGACY) {
                check(report, phase); // what the catalog tells, the script would not ask again
            }
            String script = Session.of(connection).render(steps(connection, phase), options);
            if (isSqlServer(connection)) {
                return script;
            }
            LegacyTable table = LegacyTable.read(connection, name, kind);
            if (phase != Phase.RENAMING || table.interims().isEmpty()) {
                return script;
            }
            LegacyTable after = table.withRoom();
            return script
                    + new BackfillStatements(after, consumer).script(1_000, Duration.ofMillis(10))
                    + Session.POSTGRES.render(new CleanScript(after, consumer, options).settle(), options);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    private static TableReport notAskedAgain(TableReport report) {
        return new TableReport(
                report.table(),
                report.phase(),
                report.since(),
                report.next(),
                report.findings().stream()
                        .filter(finding -> finding.rows() == 0 && finding.concern() != Finding.Concern.TOO_RECENT)
                        .toList());
    }

    private List<Step> steps(Connection connection, Phase phase) throws SQLException {
        if (isSqlServer(connection)) {
            return new SqlServerScript(SqlServerLegacyTable.read(connection, name, kind, consumer), options)
                    .steps(phase);
        }
        LegacyTable table = LegacyTable.read(connection, name, kind);
        PhaseScript script = new PhaseScript(table, consumer, options);
        CleanScript clean = new CleanScript(table, consumer, options);
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> script.additive();
            case DUAL -> script.dual();
            case FLIPPED -> {
                refuseIfSettling(table, phase);
                yield script.flip();
            }
            case RENAMING -> table.interims().isEmpty() ? clean.settle() : clean.makeRoom();
            case CLEAN -> clean.clean();
        };
    }

    /**
     * Takes the table to this phase, or repeats what leads there if it is in it. {@link Phase#RENAMING} includes its
     * backfill, and does nothing for a table that needs no interim names.
     *
     * @throws OutboxException if the table is not ready for it, and why; or the database refused
     */
    public void apply(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            TableReport report = report(connection);
            if (phase == Phase.RENAMING && report.phase() == Phase.FLIPPED && report.next() == Phase.CLEAN) {
                return;
            }
            check(report, phase);
            Runner runner = new Runner(connection, Session.of(connection), options);
            if (phase == Phase.RENAMING) {
                if (!LegacyTable.read(connection, name, kind).interims().isEmpty()) {
                    runner.run(steps(connection, phase));
                }
                backfill().run(dataSource);
            }
            runner.run(steps(connection, phase));
        } catch (SQLException e) {
            throw failure("cannot take table \"" + name + "\" to " + phase, e);
        }
    }

    /**
     * Asks, without changing anything, whether {@link #apply} would refuse: before Flyway is called, for instance, where a
     * refusal would be a failed migration.
     *
     * @throws OutboxException that says everything that is in the way
     */
    public void requireReady(DataSource dataSource, Phase phase) {
        check(report(dataSource), phase);
    }

    /**
     * Takes the table one phase back: from 3 to 2, from 2 to 1, or from 1 to 0, which drops the new columns. Before it
     * drops them it tells the applications, and waits until all of them have noticed.
     *
     * @param phase the phase to go back to
     * @throws OutboxException if the table is in another phase than the one after it, or the old columns could not tell
     *     what is still to be done
     */
    public void back(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            new Runner(connection, Session.of(connection), options).run(stepsBack(connection, phase));
        } catch (SQLException e) {
            throw failure("cannot take table \"" + name + "\" back to " + phase, e);
        }
    }

    /** What a script of ours says itself is for people to read. */
    private static OutboxException failure(String what, SQLException e) {
        return e.getErrorCode() == SqlServerSql.REFUSED
                ? new OutboxException(what + ": " + e.getMessage(), e, false)
                : SqlFailure.of(what, e);
    }

    /** The SQL that {@link #back} would run on this table. */
    public String renderBack(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            return Session.of(connection).render(stepsBack(connection, phase), options);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    private List<Step> stepsBack(Connection connection, Phase phase) throws SQLException {
        if (isSqlServer(connection)) {
            return new SqlServerBack(SqlServerLegacyTable.read(connection, name, kind, consumer), options).steps(phase);
        }
        LegacyTable table = LegacyTable.read(connection, name, kind);
        PhaseScript script = new PhaseScript(table, consumer, options);
        return switch (phase) {
            case LEGACY -> script.backToLegacy();
            case ADDITIVE -> script.backToAdditive();
            case DUAL -> {
                refuseIfSettling(table, phase);
                yield script.backToDual();
            }
            case FLIPPED, RENAMING, CLEAN ->
                throw new IllegalArgumentException("a table can go back to phase 0, 1 or 2, not to " + phase);
        };
    }

    /** The comment still says phase 3, but the old columns are gone. */
    private static void refuseIfSettling(LegacyTable table, Phase phase) {
        if (table.phase() == Phase.FLIPPED && !table.settled().isEmpty()) {
            throw new OutboxException("table \"" + table.name() + "\" has begun to settle and cannot go to " + phase
                    + ", for its old columns are gone; its next is " + Phase.RENAMING);
        }
    }

    private static void check(TableReport report, Phase phase) {
        if (report.phase() != phase && report.next() != phase) {
            throw new OutboxException("table \"" + report.table() + "\" is in " + report.phase() + " and cannot go to "
                    + phase + "; its next is " + report.next());
        }
        List<Finding> obstacles = report.phase() == phase ? List.of() : report.obstacles(phase);
        if (!obstacles.isEmpty()) {
            throw new OutboxException("table \"" + report.table() + "\" is not ready for " + phase + ": "
                    + obstacles.stream().map(Finding::text).collect(Collectors.joining(" · ")));
        }
    }

    /** The job that completes the rows of before phase 1. */
    public Backfill backfill() {
        return Backfill.of(name, kind, consumer);
    }

    /** Runs steps on one connection, and leaves that as it was. */
    record Runner(Connection connection, Session session, Options options) {
        void run(List<Step> steps) throws SQLException {
            boolean autoCommit = connection.getAutoCommit();
            int isolation = Session.isolate(connection, Connection.TRANSACTION_READ_COMMITTED);
            try {
                for (Step step : steps) {
                    run(step);
                }
            } catch (SQLException | RuntimeException e) {
                also(e, () -> restore(autoCommit, isolation));
                throw e;
            }
            restore(autoCommit, isolation);
        }

        private void restore(boolean autoCommit, int isolation) throws SQLException {
            connection.setAutoCommit(true);
            execute(session.forget());
            Session.isolate(connection, isolation);
            connection.setAutoCommit(autoCommit);
        }

        private interface Work {
            void run() throws SQLException;
        }

        /** Does what has to be done after a failure; what fails of that must not hide the failure. */
        private static void also(Exception failure, Work work) {
            try {
                work.run();
            } catch (SQLException e) {
                failure.addSuppressed(e);
            }
        }

        private void run(Step step) throws SQLException {
            connection.setAutoCommit(!step.together());
            if (step.together()) {
                repeat(step, () -> {
                    for (String statement : step.statements()) {
                        execute(statement);
                    }
                    connection.commit();
                });
                return;
            }
            for (String statement : step.statements()) {
                repeat(step, () -> execute(statement));
            }
        }

        private void repeat(Step step, Work work) throws SQLException {
            long deadline = System.nanoTime() + options.patience().toNanos();
            while (true) {
                try {
                    execute(session.wait(session.lockTimeout(step, options)));
                    work.run();
                    return;
                } catch (SQLException e) {
                    if (step.together()) {
                        also(e, connection::rollback);
                    }
                    if (!session.isWorthRepeating(step, e) || System.nanoTime() > deadline) {
                        throw e;
                    }
                    Pause.of(options.lockTimeout());
                }
            }
        }

        private void execute(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        }
    }
}
