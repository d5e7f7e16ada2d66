package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.internal.BackfillStatements;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.TableUpgrade;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The upgrade of a table of PostgreSQL. */
final class PostgresUpgrade implements TableUpgrade {
    private static final ScriptDialect SCRIPTS = new PostgresScripts();

    private final Connection connection;
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final UpgradeOptions options;

    PostgresUpgrade(Connection connection, LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
        this.connection = connection;
        this.table = table;
        this.consumer = consumer;
        this.options = options;
    }

    @Override
    public TableName name() {
        return table.name();
    }

    @Override
    public Phase phase() {
        return table.phase();
    }

    @Override
    public TableReport report() throws SQLException {
        return new Verifier(connection, table, consumer, options).report();
    }

    @Override
    public List<Step> steps(Phase phase) {
        PhaseScript script = new PhaseScript(table, consumer, options);
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> script.additive();
            case DUAL -> script.dual();
            case FLIPPED -> {
                table.refuseIfRenaming(phase);
                yield script.flip();
            }
            case RENAMING -> renaming(table).rename();
            case CLEAN -> new CleanScript(table, consumer, options).clean();
        };
    }

    @Override
    public List<Step> stepsBeforeRenaming() {
        return table.interims().isEmpty() ? List.of() : renaming(table).makeRoom();
    }

    private RenamingScript renaming(LegacyTable table) {
        return new RenamingScript(table, consumer, options);
    }

    @Override
    public List<Step> stepsBack(Phase phase) {
        return new BackScript(table, consumer, options).steps(phase);
    }

    @Override
    public BackfillStatements backfill() {
        return new PostgresBackfill(table, consumer);
    }

    /** A script finds again what a report finds, but for what the catalog tells of a legacy table. */
    @Override
    public String script(Phase phase) throws SQLException {
        if (phase == Phase.ADDITIVE && table.phase() == Phase.LEGACY) {
            Readiness.require(report(), phase);
        }
        if (phase != Phase.RENAMING || table.interims().isEmpty()) {
            return SCRIPTS.render(steps(phase), options);
        }
        LegacyTable after = table.withRoom();
        return SCRIPTS.render(stepsBeforeRenaming(), options)
                + new PostgresBackfill(after, consumer).script(1_000, Duration.ofMillis(10))
                + SCRIPTS.render(renaming(after).rename(), options);
    }
}
