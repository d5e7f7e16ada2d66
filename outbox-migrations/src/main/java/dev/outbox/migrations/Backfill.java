package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.BackfillStatements;
import dev.outbox.migrations.internal.Isolation;
import dev.outbox.migrations.internal.Pause;
import dev.outbox.migrations.internal.TableUpgrade;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Completes the rows that were there before the new columns, in small transactions beside everybody else's.
 *
 * <p>The rows it has to do are those of one moment: every later one is complete from the start. So it first writes them
 * down in a table of its own, in the order in which they are to be numbered, and then works through that in ranges. A
 * transaction completes the rows of a range and crosses them off. Whoever kills it at any point and starts it
 * again goes on where it was. Rows that somebody has locked are left for the next round, so it waits for nobody
 * and cannot be part of a deadlock; on SQL Server, where locks on indexes can still make one, it begins that transaction
 * anew. It ends when nothing is left on the list and no row is found incomplete.
 *
 * <p>Immutable and thread-safe; two runs at once do no harm.
 */
public final class Backfill {
    private static final Logger LOG = LoggerFactory.getLogger(Backfill.class);

    /** How long the throttle holds a batch back before it goes on all the same. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /** What it rests when all that is left is held by somebody. */
    private static final Duration HELD = Duration.ofMillis(100);

    private record Settings(
            int batch,
            Duration pause,
            long maxDeadTuples,
            Duration maxReplicationLag,
            Consumer<BackfillProgress> listener) {}

    private final Upgrade upgrade;
    private final Settings settings;

    private Backfill(Upgrade upgrade, Settings settings) {
        this.upgrade = upgrade;
        this.settings = settings;
    }

    static Backfill of(Upgrade upgrade) {
        return new Backfill(
                upgrade,
                new Settings(
                        1_000,
                        Duration.ofMillis(10),
                        Long.MAX_VALUE,
                        Duration.ofSeconds(10),
                        progress -> LOG.info("{}", progress)));
    }

    /** Rows per transaction (default 1,000; 1 to 100,000). */
    public Backfill batch(int rows) {
        if (rows < 1 || rows > 100_000) {
            throw new IllegalArgumentException("batch must be 1 to 100,000 rows, was " + rows);
        }
        return with(new Settings(
                rows, settings.pause, settings.maxDeadTuples, settings.maxReplicationLag, settings.listener));
    }

    /** What it rests after each transaction (default 10 ms). */
    public Backfill pause(Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException("pause must not be negative, was " + length);
        }
        return with(new Settings(
                settings.batch, length, settings.maxDeadTuples, settings.maxReplicationLag, settings.listener));
    }

    /**
     * Waits, up to a minute at a time, while vacuum has more dead rows of the table before it than this (default: no
     * limit). Of no effect on SQL Server.
     */
    public Backfill maxDeadTuples(long rows) {
        return with(new Settings(settings.batch, settings.pause, rows, settings.maxReplicationLag, settings.listener));
    }

    /**
     * Waits, up to a minute at a time, while a standby is further behind than this (default ten seconds). Of no effect on
     * SQL Server, nor for a role that may not see it, for want of {@code pg_monitor}.
     */
    public Backfill maxReplicationLag(Duration lag) {
        return with(new Settings(settings.batch, settings.pause, settings.maxDeadTuples, lag, settings.listener));
    }

    /** Who is told of progress, after each transaction (default: a line in the log each time). */
    public Backfill listener(Consumer<BackfillProgress> listener) {
        return with(new Settings(
                settings.batch,
                settings.pause,
                settings.maxDeadTuples,
                settings.maxReplicationLag,
                Require.present("listener", listener)));
    }

    private Backfill with(Settings changed) {
        return new Backfill(upgrade, changed);
    }

    /**
     * Completes every row.
     *
     * @return how many this run completed
     * @throws OutboxException if the table is in no phase that has something to backfill
     */
    public long run(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            TableUpgrade table = upgrade.read(connection);
            if (table.phase() == Phase.LEGACY || table.phase() == Phase.CLEAN) {
                throw new OutboxException("table \"" + table.name() + "\" is in " + table.phase()
                        + ": there is nothing to backfill before phase 1 or after phase 3");
            }
            boolean autoCommit = connection.getAutoCommit();
            int isolation = Isolation.set(connection, Connection.TRANSACTION_READ_COMMITTED);
            connection.setAutoCommit(false);
            try {
                return new Run(connection, table).toTheEnd();
            } finally {
                connection.rollback();
                Isolation.set(connection, isolation);
                connection.setAutoCommit(autoCommit);
            }
        } catch (SQLException e) {
            throw SqlFailure.of(
                    "backfill of \"" + upgrade.table() + "\" failed; run it again to go on where it was", e);
        }
    }

    /** The same as plain SQL, for people to read and run themselves; only the throttle looks at nothing but time. */
    public String render(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return upgrade.read(connection).backfill().script(settings.batch, settings.pause);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + upgrade.table() + "\"", e);
        }
    }

    private final class Run {
        private final Connection connection;
        private final TableName table;
        private final BackfillStatements statements;
        private final long begin = System.nanoTime();
        private long done;
        private long remaining;

        Run(Connection connection, TableUpgrade table) {
            this.connection = connection;
            this.table = table.name();
            this.statements = table.backfill();
        }

        long toTheEnd() throws SQLException {
            do {
                transaction(() -> {
                    for (String statement : statements.list()) {
                        execute(statement);
                    }
                });
                try {
                    throughTheList();
                } catch (SQLException e) {
                    if (!statements.isListGone(e)) {
                        throw e;
                    }
                    connection.rollback(); // another run came to its end
                }
            } while (number(statements.incomplete()) > 0);
            return done;
        }

        private void throughTheList() throws SQLException {
            while ((remaining = number(statements.remaining())) > 0) {
                connection.commit();
                long before = done;
                round();
                if (done == before) {
                    Pause.of(HELD);
                }
            }
            execute(statements.forget());
            connection.commit();
        }

        /** Once over the list. */
        private void round() throws SQLException {
            long position = number(statements.first()) - 1;
            long last = number(statements.last());
            connection.commit();
            while (position < last) {
                String after = String.valueOf(position);
                position = Math.min(last, position + settings.batch);
                String to = String.valueOf(position);
                int[] rows = new int[2];
                transaction(() -> {
                    rows[0] = execute(statements.complete(after, to));
                    rows[1] = execute(statements.crossOff(after, to));
                });
                done += rows[0];
                remaining -= rows[1];
                tell("");
                rest();
            }
        }

        private interface Work {
            void run() throws SQLException;
        }

        private void transaction(Work work) throws SQLException {
            while (true) {
                try {
                    work.run();
                    connection.commit();
                    return;
                } catch (SQLException e) {
                    if (!statements.isDeadlock(e)) {
                        throw e;
                    }
                    connection.rollback();
                    Pause.of(HELD);
                }
            }
        }

        private void rest() throws SQLException {
            Pause.of(settings.pause);
            long deadline = System.nanoTime() + LONGEST_WAIT.toNanos();
            String reason = reasonToWait();
            while (!reason.isEmpty() && System.nanoTime() < deadline) {
                tell(reason);
                Pause.of(Duration.ofSeconds(1));
                reason = reasonToWait();
            }
        }

        private String reasonToWait() throws SQLException {
            String reason = "";
            if (settings.maxDeadTuples < Long.MAX_VALUE && number(statements.deadTuples()) > settings.maxDeadTuples) {
                reason = "vacuum is behind by more than " + settings.maxDeadTuples + " dead rows";
            } else if (number(statements.lag()) > settings.maxReplicationLag.toMillis()) {
                reason = "a standby is behind by more than " + settings.maxReplicationLag;
            }
            connection.commit();
            return reason;
        }

        private void tell(String waitingFor) {
            settings.listener.accept(new BackfillProgress(
                    table.toString(), done, remaining, Duration.ofNanos(System.nanoTime() - begin), waitingFor));
        }

        private int execute(String sql) throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
                return statement.getUpdateCount();
            }
        }

        private long number(Optional<String> sql) throws SQLException {
            return sql.isEmpty() ? 0 : number(sql.get());
        }

        private long number(String sql) throws SQLException {
            try (Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(sql)) {
                return row.next() ? row.getLong(1) : 0;
            }
        }
    }
}
