package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.SqlServerCatalog;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import dev.outbox.migrations.internal.sqlserver.LegacyTable.Renamed;
import java.util.ArrayList;
import java.util.List;

/** Writes what takes a table one phase back. */
final class BackScript {
    private final LegacyTable table;
    private final TableSql sql;
    private final RowChecks rows;

    BackScript(LegacyTable table, UpgradeOptions options) {
        this.table = table;
        this.sql = new TableSql(table, options);
        this.rows = new RowChecks(table, options.quietFor());
    }

    List<Step> steps(Phase phase) {
        return switch (phase) {
            case LEGACY -> toLegacy();
            case ADDITIVE ->
                List.of(Step.together(List.of(sql.guard(Phase.DUAL, phase, rows.losses(phase)), sql.mark(phase))));
            case DUAL -> toDual();
            case FLIPPED, RENAMING, CLEAN ->
                throw new IllegalArgumentException("a table can go back to phase 0, 1 or 2, not to " + phase);
        };
    }

    /** The old names are written again. */
    private List<Step> toDual() {
        refuseIfCleaning();
        List<String> change = new ArrayList<>();
        change.add(sql.guard(Phase.FLIPPED, Phase.DUAL, rows.losses(Phase.DUAL)));
        change.addAll(sql.dropAliases());
        change.addAll(sql.rename(Renamed::now, Renamed::old));
        table.renamed().forEach(renamed -> change.add(sql.alias(renamed.now(), renamed.old())));
        if (!table.inbox()) {
            change.add(sql.mark(Phase.DUAL));
            return List.of(Step.together(change));
        }
        if (!table.has(LegacyTable.DIFFERS)) {
            change.add(sql.differs());
        }
        change.add(sql.mark(Phase.DUAL));
        return List.of(
                Step.together(change), Step.alone(sql.index("_Differs", false, "(" + LegacyTable.DIFFERS + ")")));
    }

    /** It still says phase 3; but what every table has until phase 4 drops the old columns is gone, or its keys are. */
    private void refuseIfCleaning() {
        if (table.phase() == Phase.FLIPPED
                && (table.libraryToken().isEmpty()
                        || table.indexes().containsKey(table.name().name() + "_StatusNew"))) {
            throw new OutboxException("table \"" + table.name() + "\" has begun to go to " + Phase.CLEAN
                    + " and cannot go back to " + Phase.DUAL
                    + ", because its old columns and keys are gone; its next is "
                    + Phase.CLEAN);
        }
    }

    /** Takes away what phase 1 added. */
    private List<Step> toLegacy() {
        List<String> change = new ArrayList<>();
        change.add(sql.guard(Phase.ADDITIVE, Phase.LEGACY, rows.losses(Phase.LEGACY)));
        table.indexes().values().stream()
                .filter(index -> sql.isOurs(index.name())
                        && !index.name().equalsIgnoreCase(table.name().name() + "_Differs"))
                .forEach(index -> change.add(sql.dropIndex(index.name())));
        change.addAll(sql.dropDiffers());
        change.addAll(sql.dropAliases());
        table.canonical().computed().stream()
                .filter(computed -> table.has(computed.name()))
                .forEach(computed -> change.add(sql.dropColumn(computed.name())));
        for (Canonical.Column column : table.canonical().columns()) {
            if (table.changes(column.logical())) {
                table.interim(column.logical()).ifPresent(found -> change.addAll(sql.remove(found)));
            } else if (!table.legacyNames().known().contains(column.logical())
                    && !table.shared().contains(column.logical())) {
                table.stored(column.logical()).ifPresent(found -> change.addAll(sql.remove(found)));
            }
        }
        table.libraryToken().ifPresent(column -> change.addAll(sql.remove(column)));
        change.add("DROP SEQUENCE IF EXISTS " + table.relation("_sequence"));
        change.add("DROP TABLE IF EXISTS " + table.relation("_backfill"));
        if (table.inbox()) {
            change.add(sql.dropProperty(SqlServerCatalog.CONSUMER));
        }
        change.add(sql.dropProperty(PhaseMarker.NAME));
        return List.of(Step.together(change));
    }
}
