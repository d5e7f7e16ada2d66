package dev.outbox.migrations;

import dev.outbox.OutboxException;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.MigrationDialect;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.StepRunner;
import dev.outbox.migrations.internal.TableUpgrade;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Takes one legacy table to the canonical layout, phase by phase, while applications use it.
 *
 * <p>Each step is plain SQL made for the columns that were found: {@link #apply} runs it, {@link #render} prints the
 * same for a DBA. Every step may be repeated; a step that must not run yet refuses, and says why. The upgrade finds out
 * from the data source which database it is. Immutable and thread-safe.
 */
public final class Upgrade {
    /** The longest suffix is that of a check during the renaming. */
    private static final int MAX_TABLE = 63 - "_one_payload_new".length();

    private final TableName name;
    private final TableKind kind;
    private final @Nullable String consumer;
    private final UpgradeOptions options;

    private Upgrade(TableName name, TableKind kind, @Nullable String consumer, UpgradeOptions options) {
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
        return new Upgrade(name(table), TableKind.OUTBOX, null, UpgradeOptions.defaults());
    }

    /**
     * The upgrade of an inbox.
     *
     * @param consumer the consumer that the rows of the legacy table belong to; such a table has only one
     */
    public static Upgrade inbox(String table, String consumer) {
        return new Upgrade(
                name(table), TableKind.INBOX, Require.present("consumer", consumer), UpgradeOptions.defaults());
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

    /**
     * How often the applications check the phase (default {@link Phase#REFRESH_INTERVAL}). Phases 3 and 4 wait for twice
     * this time after the phase before, and so does the way back to phase 0.
     */
    public Upgrade refreshInterval(Duration interval) {
        return with(new UpgradeOptions(options.lockTimeout(), options.patience(), interval, options.quietFor()));
    }

    /**
     * How long no application may have written only old columns before the table goes to phase 3 or 4 (default ten
     * minutes).
     */
    public Upgrade quietFor(Duration length) {
        return with(new UpgradeOptions(options.lockTimeout(), options.patience(), options.refreshInterval(), length));
    }

    /**
     * How long a change waits for a lock before it gives up (default 1.3 seconds), because other transactions queue up
     * behind it, and for how long the change is retried (default five minutes). The online build of an index waits for
     * open transactions: on PostgreSQL for {@code patience} at most, because no transaction queues up behind it; on SQL
     * Server for one and a half times {@code timeout}, and then it is retried.
     */
    public Upgrade lockTimeout(Duration timeout, Duration patience) {
        return with(new UpgradeOptions(timeout, patience, options.refreshInterval(), options.quietFor()));
    }

    private Upgrade with(UpgradeOptions changed) {
        return new Upgrade(name, kind, consumer, changed);
    }

    /** The table's name, as it was given. */
    public String table() {
        return name.toString();
    }

    /** The phase the table is in. */
    public Phase phase(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return read(connection).phase();
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** The table as it is now. */
    TableUpgrade read(Connection connection) throws SQLException {
        return MigrationDialect.upgrade(connection, name, kind, consumer, options);
    }

    /** The phase of the table, what is wrong with it, and what prevents the next phases. */
    public TableReport report(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return report(connection);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** {@link #report(DataSource)} on this connection, which is left as it is. */
    public TableReport report(Connection connection) throws SQLException {
        return read(connection).report();
    }

    /**
     * The SQL that {@link #apply} would run on this table, for people to read and run themselves.
     *
     * @throws OutboxException if no script can be made for such a table, or if something prevents the phase that the script
     *     does not check itself; on SQL Server a script checks only the rows, and how long the table has been in its phase
     */
    public String render(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            return read(connection).script(phase);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /**
     * Takes the table to this phase, or repeats the step that leads there if the table is in it already. {@link Phase#RENAMING} includes its
     * backfill, and does nothing for a table that needs no interim names.
     *
     * @throws OutboxException if the table is not ready for it, with the reasons, or if the database refused
     */
    public void apply(DataSource dataSource, Phase phase) {
        String what = "cannot take table \"" + name + "\" to " + phase;
        try (Connection connection = dataSource.getConnection()) {
            TableUpgrade table = read(connection);
            TableReport report = table.report();
            if (phase == Phase.RENAMING && report.phase() == Phase.FLIPPED && report.next() == Phase.CLEAN) {
                return;
            }
            Readiness.require(report, phase);
            StepRunner runner = runner(connection);
            if (phase == Phase.RENAMING) {
                runner.run(what, table.stepsBeforeRenaming());
                backfill().run(dataSource);
            }
            runner.run(what, read(connection).steps(phase));
        } catch (SQLException e) {
            throw SqlFailure.of(what, e);
        }
    }

    private StepRunner runner(Connection connection) throws SQLException {
        return new StepRunner(
                connection, MigrationDialect.of(Database.of(connection)).scripts(), options);
    }

    /**
     * Checks, without changing anything, whether {@link #apply} would refuse. Call it before Flyway, for instance, for
     * which a refusal is a failed migration.
     *
     * @throws OutboxException if it would, with all reasons
     */
    public void requireReady(DataSource dataSource, Phase phase) {
        Readiness.require(report(dataSource), phase);
    }

    /**
     * Takes the table one phase back: from 3 to 2, from 2 to 1, or from 1 to 0, which drops the new columns. Before it drops
     * them, the table's marker says phase 0, and the step waits until all applications have noticed.
     *
     * @param phase the phase to go back to
     * @throws OutboxException if the table is in another phase than the one after it, or if unfinished rows have values
     *     that the old columns cannot hold
     */
    public void back(DataSource dataSource, Phase phase) {
        String what = "cannot take table \"" + name + "\" back to " + phase;
        try (Connection connection = dataSource.getConnection()) {
            runner(connection).run(what, read(connection).stepsBack(phase));
        } catch (SQLException e) {
            throw SqlFailure.of(what, e);
        }
    }

    /** The SQL that {@link #back} would run on this table. */
    public String renderBack(DataSource dataSource, Phase phase) {
        try (Connection connection = dataSource.getConnection()) {
            ScriptDialect scripts = MigrationDialect.of(Database.of(connection)).scripts();
            return scripts.render(read(connection).stepsBack(phase), options);
        } catch (SQLException e) {
            throw SqlFailure.of("cannot read table \"" + name + "\"", e);
        }
    }

    /** The job that fills the new columns of the rows that are older than phase 1. */
    public Backfill backfill() {
        return Backfill.of(this);
    }
}
