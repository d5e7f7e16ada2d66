package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.internal.BackfillStatements;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.ScriptDialect;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.TableUpgrade;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/** The upgrade of a table of SQL Server. */
final class SqlServerUpgrade implements TableUpgrade {
    private static final ScriptDialect SCRIPTS = new SqlServerScripts();

    private final Connection connection;
    private final LegacyTable table;
    private final UpgradeOptions options;

    SqlServerUpgrade(Connection connection, LegacyTable table, UpgradeOptions options) {
        this.connection = connection;
        this.table = table;
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
        return new Verifier(connection, table, options).report();
    }

    @Override
    public List<Step> steps(Phase phase) {
        return new PhaseScript(table, options).steps(phase);
    }

    /** Interim names become canonical ones within phase 4. */
    @Override
    public List<Step> stepsBeforeRenaming() {
        return List.of();
    }

    @Override
    public List<Step> stepsBack(Phase phase) {
        return new BackScript(table, options).steps(phase);
    }

    @Override
    public BackfillStatements backfill() {
        return new SqlServerBackfill(table);
    }

    /** A script asks again for rows, and for how long the table is in its phase. */
    @Override
    public String script(Phase phase) throws SQLException {
        if (phase != Phase.RENAMING) {
            Readiness.require(withoutWhatTheScriptAsks(report()), phase);
        }
        return SCRIPTS.render(steps(phase), options);
    }

    private static TableReport withoutWhatTheScriptAsks(TableReport report) {
        return new TableReport(
                report.table(),
                report.phase(),
                report.since(),
                report.next(),
                report.findings().stream()
                        .filter(finding -> finding.rows() == 0 && finding.concern() != Finding.Concern.TOO_RECENT)
                        .toList());
    }
}
