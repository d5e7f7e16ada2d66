package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Checks a table: its catalog first, then its rows. */
final class Verifier {
    private final Connection connection;
    private final LegacyTable table;
    private final UpgradeOptions options;
    private final List<Finding> findings = new ArrayList<>();

    Verifier(Connection connection, LegacyTable table, UpgradeOptions options) {
        this.connection = connection;
        this.table = table;
        this.options = options;
    }

    TableReport report() throws SQLException {
        if (table.phase() != Phase.LEGACY) {
            columns();
            indexes();
            age();
            pollers();
        }
        if (table.phase() != Phase.CLEAN) {
            findings.addAll(new LegacyColumns(table).findings());
            findings.addAll(new Dependents(connection, table).findings());
        }
        strangers();
        if (findings.stream().noneMatch(this::hidesRows)) {
            rows();
        }
        return new TableReport(
                table.name().toString(), table.phase(), table.found().since(), next(), findings);
    }

    /** Whether the checks of rows would make no sense after this, or fail. */
    private boolean hidesRows(Finding finding) {
        return finding.concern() == Concern.COLUMN_MISSING
                || (finding.concern() == Concern.COLUMN_TYPE && table.phase() == Phase.LEGACY);
    }

    private Phase next() {
        return switch (table.phase()) {
            case LEGACY -> Phase.ADDITIVE;
            case ADDITIVE -> Phase.DUAL;
            case DUAL -> Phase.FLIPPED;
            case FLIPPED, RENAMING, CLEAN -> Phase.CLEAN;
        };
    }

    private void columns() {
        for (Canonical.Column column : table.canonical().columns()) {
            if (table.stored(column.logical()).isEmpty()
                    && table.interim(column.logical()).isEmpty()) {
                add(Concern.COLUMN_MISSING, "column " + column.name() + " is missing; run phase 1 again", true, next());
            }
        }
    }

    private void indexes() {
        if (table.phase().before(Phase.DUAL) || isBuiltAnew()) {
            return;
        }
        List<String> suffixes = new ArrayList<>(table.canonical().indexes().stream()
                .map(Canonical.Index::suffix)
                .toList());
        if (table.inbox() && table.phase() == Phase.DUAL) {
            suffixes.add("_Differs");
        }
        for (String suffix : suffixes) {
            String name = table.name().name() + suffix;
            Index found = table.indexes().get(name);
            if (found == null) {
                add(
                        Concern.INDEX_MISSING,
                        "index " + name + " is missing; run " + Phase.DUAL + " again, or create it as the installation"
                                + " does",
                        true,
                        next());
            } else if (!found.valid()) {
                add(Concern.INDEX_INVALID, "index " + name + " is disabled; rebuild it", true, next());
            }
        }
    }

    /** An inbox whose phase 4 was interrupted. */
    private boolean isBuiltAnew() {
        return table.inbox()
                && table.phase() == Phase.FLIPPED
                && table.indexes().containsKey(table.name().name() + "_StatusNew");
    }

    private void age() throws SQLException {
        Duration noticed = options.noticed();
        if ((table.phase() == Phase.DUAL || table.phase() == Phase.FLIPPED)
                && number("SELECT CASE WHEN N'" + since().toString().replace("Z", "") + "' > "
                                + TableSql.ago(noticed)
                                + " THEN 1 ELSE 0 END")
                        == 1) {
            add(Concern.TOO_RECENT, Readiness.tooRecent(table.phase(), noticed), false, next());
        }
    }

    private Instant since() {
        return table.found().since().orElse(Instant.EPOCH);
    }

    /** Pollers that tell of themselves also tell which phase they read; they do so twice a minute. */
    private void pollers() throws SQLException {
        String pollers = Quoted.sqlServer(new TableName(table.name().schema(), "outbox_pollers"));
        if (table.phase() == Phase.CLEAN
                || number("SELECT CASE WHEN OBJECT_ID(" + Literal.national(pollers) + ") IS NULL THEN 0 ELSE 1 END")
                        == 0) {
            return;
        }
        long behind = number("SELECT COUNT(*) FROM " + pollers + " WHERE TableName = "
                + Literal.national(table.name().toString()) + " AND Phase < N'"
                + table.phase().mark() + "' AND SeenOn > DATEADD(second, -90, SYSUTCDATETIME())");
        if (behind > 0) {
            add(Concern.OLD_POLLER, Readiness.oldPoller(table.phase()), false, next());
        }
    }

    /** Columns of the application's own that our inserts would not fill. */
    private void strangers() {
        List<String> known = new ArrayList<>();
        table.canonical().columns().forEach(column -> {
            table.stored(column.logical()).ifPresent(found -> known.add(found.name()));
            table.interim(column.logical()).ifPresent(found -> known.add(found.name()));
        });
        table.processed().ifPresent(column -> known.add(column.name()));
        for (Column column : table.found().columns().values()) {
            if (!column.filled() && !known.contains(column.name())) {
                add(
                        Concern.COLUMN_NULLABILITY,
                        "column " + column.name()
                                + " does not belong to the library, is NOT NULL and has no default, so"
                                + " no message can be stored; give it a default or allow nulls",
                        true,
                        next());
            }
        }
    }

    /** All in one pass over them, which waits for no lock. */
    private void rows() throws SQLException {
        List<RowChecks.Check> checks = new RowChecks(table, options.quietFor()).checks();
        if (checks.isEmpty()) {
            return;
        }
        List<String> counts = checks.stream()
                .map(check -> "COUNT_BIG(CASE WHEN " + check.condition() + " THEN 1 END)")
                .toList();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + String.join(",\n", counts) + "\nFROM "
                        + table.quoted() + " t WITH (READUNCOMMITTED)")) {
            row.next();
            for (int i = 0; i < checks.size(); i++) {
                RowChecks.Check check = checks.get(i);
                long rows = row.getLong(i + 1);
                if (rows > 0) {
                    findings.add(new Finding(
                            check.concern(), rows + " " + check.text(), rows, check.wrong(), check.blocks()));
                }
            }
        }
    }

    private void add(Concern concern, String text, boolean wrong, Phase... blocks) {
        findings.add(new Finding(concern, text, 0, wrong, Set.of(blocks)));
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
