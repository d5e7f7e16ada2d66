package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Takes one legacy table to the canonical layout, phase by phase, while applications work it.
 *
 * <p>Each step is plain SQL made for the columns that were found: {@link #apply} runs it, {@link #render} prints the same
 * for a DBA. Every step may be repeated; a step that must not run yet refuses, and says why. Immutable and
 * thread-safe.
 */
public final class Upgrade {
    /** How often a running application looks for the phase of a table that is not yet clean, if not told otherwise. */
    public static final Duration REFRESH_INTERVAL = Duration.ofSeconds(5);

    private static final Set<String> WORTH_REPEATING = Set.of("55P03", "40P01");

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
        return new Upgrade(OutboxMigrations.name(table), Kind.OUTBOX, null, defaults());
    }

    /**
     * The upgrade of an inbox.
     *
     * @param consumer whose the rows of the legacy table are, which had only one
     */
    public static Upgrade inbox(String table, String consumer) {
        return new Upgrade(OutboxMigrations.name(table), Kind.INBOX, Require.present("consumer", consumer), defaults());
    }

    private static Options defaults() {
        return new Options(Duration.ofMillis(500), Duration.ofMinutes(5), REFRESH_INTERVAL, Duration.ofMinutes(10));
    }

    /**
     * How often the applications look for the phase (default {@link #REFRESH_INTERVAL}): phases 3 and 4 wait for
     * twice as long since the one before.
     */
    public Upgrade refreshInterval(Duration interval) {
        return with(new Options(options.lockTimeout, options.patience, interval, options.quietFor));
    }

    /** How long nobody may have written old columns alone before phase 3 (default ten minutes). */
    public Upgrade quietFor(Duration length) {
        return with(new Options(options.lockTimeout, options.patience, options.refreshInterval, length));
    }

    /**
     * How long a change waits for a lock before it steps back (default half a second), because everybody else waits
     * behind it, and for how long it tries again (default five minutes).
     */
    public Upgrade lockTimeout(Duration timeout, Duration patience) {
        return with(new Options(timeout, patience, options.refreshInterval, options.quietFor));
    }

    private Upgrade with(Options changed) {
        return new Upgrade(name, kind, consumer, changed);
    }

    /** The phase the table is in. */
    public Phase phase(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return LegacyTable.read(connection, name, kind).phase();
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** The SQL that {@link #apply} would run on this table, for people to read and run themselves. */
    public String render(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            return render(steps(connection, phase));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    private String render(List<Step> steps) {
        StringBuilder script = new StringBuilder();
        for (Step step : steps) {
            script.append(
                    step.together()
                            ? "SET lock_timeout = " + options.lockTimeout.toMillis() + ";\nBEGIN;\n"
                            : "SET lock_timeout = 0;\n");
            step.statements().forEach(statement -> script.append(statement).append(";\n"));
            script.append(step.together() ? "COMMIT;\n\n" : "\n");
        }
        return script.append("RESET lock_timeout;\n").toString();
    }

    private List<Step> steps(Connection connection, Phase phase) throws SQLException {
        LegacyTable table = LegacyTable.read(connection, name, kind);
        PhaseScript script = new PhaseScript(table, consumer, options);
        CleanScript clean = new CleanScript(table, consumer, options);
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> script.additive();
            case DUAL -> script.dual();
            case FLIPPED -> script.flip();
            case SETTLING -> table.interims().isEmpty() ? clean.settle() : clean.makeRoom();
            case CLEAN -> clean.clean();
        };
    }

    /**
     * Takes the table to this phase, or repeats what leads there if it is in it.
     *
     * @throws OutboxException if the table is not ready for it, or the database refused
     */
    public void apply(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            if (phase == Phase.SETTLING && !LegacyTable.read(connection, name, kind).interims().isEmpty()) {
                new Runner(connection, options).run(steps(connection, phase));
                backfill().run(dataSource);
            }
            new Runner(connection, options).run(steps(connection, phase));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot take table \"" + name + "\" to " + phase, e);
        }
    }

    /** The job that completes the rows of before phase 1. */
    public Backfill backfill() {
        return Backfill.of(name, kind, consumer);
    }

    /** Runs steps on one connection, and leaves that as it was. */
    record Runner(Connection connection, Options options) {
        void run(List<Step> steps) throws SQLException {
            boolean autoCommit = connection.getAutoCommit();
            try {
                for (Step step : steps) {
                    run(step);
                }
            } finally {
                connection.setAutoCommit(true);
                execute("RESET lock_timeout");
                connection.setAutoCommit(autoCommit);
            }
        }

        private void run(Step step) throws SQLException {
            connection.setAutoCommit(!step.together());
            if (!step.together()) {
                execute("SET lock_timeout = 0");
                for (String statement : step.statements()) {
                    execute(statement);
                }
                return;
            }
            long deadline = System.nanoTime() + options.patience().toNanos();
            while (true) {
                try {
                    execute("SET LOCAL lock_timeout = " + options.lockTimeout().toMillis());
                    for (String statement : step.statements()) {
                        execute(statement);
                    }
                    connection.commit();
                    return;
                } catch (SQLException e) {
                    connection.rollback();
                    if (!WORTH_REPEATING.contains(String.valueOf(e.getSQLState())) || System.nanoTime() > deadline) {
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
