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
 * Fills the new columns of the rows that are older than these columns, in small transactions, while applications use the
 * table.
 *
 * <p>Only the rows that exist at its start need it: every later row is complete from the start. So it first lists them
 * in a table of its own, in the order in which they are to be numbered, and then works through the list in ranges. One
 * transaction completes the rows of a range and deletes them from the list. It may be killed at any point; when it is
 * started again, it continues where it stopped. It leaves rows that another transaction has locked for the next round,
 * so it waits for no lock and cannot be part of a deadlock. On SQL Server, where locks on indexes can still cause a
 * deadlock, it repeats the transaction. It ends when the list is empty and no row is incomplete.
 *
 * <p>Immutable and thread-safe; two runs at once do no harm.
 */
public final class Backfill {
    private static final Logger LOG = LoggerFactory.getLogger(Backfill.class);

    /** How long the throttle delays a batch at most. */
    private static final Duration LONGEST_WAIT = Duration.ofMinutes(1);

    /** How long it pauses when all rows that are left are locked by other transactions. */
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

    /** How long it pauses after each transaction (default 10 ms). */
    public Backfill pause(Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException("pause must not be negative, was " + length);
        }
        return with(new Settings(
                settings.batch, length, settings.maxDeadTuples, settings.maxReplicationLag, settings.listener));
    }

    /**
     * Waits, up to a minute at a time, while the table has more dead rows than this for vacuum to remove (default: no limit).
     * Has no effect on SQL Server.
     */
    public Backfill maxDeadTuples(long rows) {
        return with(new Settings(settings.batch, settings.pause, rows, settings.maxReplicationLag, settings.listener));
    }

    /**
     * Waits, up to a minute at a time, while a standby is further behind than this (default ten seconds). Has no effect on
     * SQL Server, nor for a role that is not a member of {@code pg_monitor} and so cannot see the standbys.
     */
    public Backfill maxReplicationLag(Duration lag) {
        return with(new Settings(settings.batch, settings.pause, settings.maxDeadTuples, lag, settings.listener));
    }

    /** Receives the progress after each transaction (default: writes a line to the log each time). */
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
     * @return the number of rows that this run completed
     * @throws OutboxException if there is nothing to backfill in the table's phase
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
            throw SqlFailure.of("backfill of \"" + upgrade.table() + "\" failed; run it again to continue", e);
        }
    }

    /** The same as plain SQL, for people to read and run themselves. It pauses after each batch, but does not throttle. */
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
