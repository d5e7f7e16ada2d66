package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks a table: its catalog first, then its rows. */
final class Verifier {
    private final Connection connection;
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final UpgradeOptions options;
    private final TableSql sql;
    private final List<Finding> findings = new ArrayList<>();

    Verifier(Connection connection, LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
        this.connection = connection;
        this.table = table;
        this.consumer = consumer;
        this.options = options;
        this.sql = new TableSql(table, options);
    }

    TableReport report() throws SQLException {
        if (table.isLeaving()) {
            add(
                    Concern.LEAVING,
                    "it is on its way back to phase 0, and still has the columns of phase 1; take it back once more to"
                            + " go on, or run phase 1 again to return",
                    false);
        } else if (table.phase() == Phase.LEGACY) {
            legacyColumns();
        } else if (columns()) {
            indexes();
            sync();
            oldWriters();
            rows();
            findings.addAll(new Dependents(connection, table, sql).findings());
            begun();
            age();
            pollers();
        }
        strangers();
        return new TableReport(
                table.name().toString(), table.phase(), table.found().since(), next(), findings);
    }

    private Phase next() {
        return switch (table.phase()) {
            case LEGACY -> Phase.ADDITIVE;
            case ADDITIVE -> Phase.DUAL;
            case DUAL -> Phase.FLIPPED;
            case FLIPPED -> table.needsRenaming() ? Phase.RENAMING : Phase.CLEAN;
            case RENAMING, CLEAN -> Phase.CLEAN;
        };
    }

    private boolean reached(Phase phase) {
        return table.phase().compareTo(phase) >= 0;
    }

    /** The columns that a legacy table must have, with types that can be taken over. */
    private void legacyColumns() throws SQLException {
        for (String needed : table.kind() == TableKind.OUTBOX
                ? List.of("work_item_id", "status", "topic", "payload", "created_on")
                : List.of("message_id", "source", "status", "topic", "payload", "first_seen_on")) {
            if (table.pair(needed) == null && !table.columns().containsKey(needed)) {
                wrong(Concern.COLUMN_MISSING, "no column was found for " + needed, Phase.ADDITIVE);
            }
        }
        for (Pair pair : table.pairs()) {
            if (!pair.fits()) {
                wrong(
                        Concern.COLUMN_TYPE,
                        "column " + pair.old() + " is " + pair.oldType() + ", from which "
                                + pair.column().name() + " (" + pair.column().type()
                                + ") cannot be made; change its type first",
                        Phase.ADDITIVE);
            }
        }
        if (table.columns().containsKey(Canonical.SEQUENCE)) {
            wrong(
                    Concern.COLUMN_TYPE,
                    "a column is already called sequence, like the one that the database numbers; rename it first",
                    Phase.ADDITIVE);
        }
        if (findings.isEmpty()) {
            rows();
        }
    }

    /** @return whether the rows can be looked at */
    private boolean columns() {
        boolean all = true;
        for (Canonical.Column column : table.canonical().columns()) {
            String name = table.now(column.name());
            Column found = table.columns().get(name);
            if (found == null) {
                all = false;
                wrong(Concern.COLUMN_MISSING, "column " + name + " is missing; run phase 1 again", next(), Phase.CLEAN);
            } else if (!column.isLike(found)
                    || (table.phase() == Phase.CLEAN && !found.definition().equals(column.type()))) {
                wrong(
                        Concern.COLUMN_TYPE,
                        "column " + name + " must be " + column.definition() + ", was " + Canonical.definition(found),
                        next());
            } else if (reached(Phase.FLIPPED) && column.notNull() == found.nullable() && !isBeingFilled(column)) {
                wrong(
                        Concern.COLUMN_NULLABILITY,
                        "column " + name + (column.notNull() ? " must not allow nulls" : " must allow nulls"),
                        next());
            }
        }
        return all;
    }

    /** The renaming has begun, and was interrupted or is not yet at its end: the backfill fills the column. */
    private boolean isBeingFilled(Canonical.Column column) {
        return table.phase() == Phase.FLIPPED && table.replacing().contains(column.name());
    }

    private void indexes() {
        table.indexes().forEach((name, index) -> {
            if (!index.valid()) {
                List<Phase> blocks = new ArrayList<>();
                if (!isBuiltByFlip(name)) {
                    blocks.add(Phase.FLIPPED);
                }
                if (!name.endsWith("_new")) { // which the renaming builds anew
                    blocks.add(Phase.RENAMING);
                }
                if (!isBuiltByClean(name)) {
                    blocks.add(Phase.CLEAN);
                }
                add(
                        Concern.INDEX_INVALID,
                        "index " + name + " was left invalid by a failed build; " + remedy(name),
                        reached(Phase.DUAL),
                        blocks.toArray(Phase[]::new));
            }
        });
        if (reached(Phase.DUAL)) {
            for (Canonical.Index index : table.canonical().indexes()) {
                if (!table.indexes().containsKey(own(index.suffix()))) {
                    wrong(
                            Concern.INDEX_MISSING,
                            "index " + own(index.suffix()) + " is missing; run " + table.phase() + " again",
                            Phase.FLIPPED,
                            Phase.RENAMING);
                }
            }
        }
    }

    private String remedy(String index) {
        if (index.equals(own("_pkey_old")) || (index.equals(own("_pkey_new")) && next() == Phase.CLEAN)) {
            return "go back to " + Phase.DUAL + " again, which rebuilds it, or drop it";
        }
        Phase builder = reached(Phase.FLIPPED) ? next() : isBuiltByFlip(index) ? Phase.FLIPPED : Phase.DUAL;
        return "run " + builder + " again, which rebuilds it";
    }

    /** The key of an outbox; the flip was interrupted. */
    private boolean isBuiltByFlip(String index) {
        return !reached(Phase.FLIPPED) && table.kind() == TableKind.OUTBOX && index.equals(own("_pkey_new"));
    }

    private String own(String suffix) {
        return table.name().name() + suffix;
    }

    /** The clean-up goes on where it was interrupted. */
    private boolean isBuiltByClean(String index) {
        return reached(Phase.FLIPPED)
                && table.canonical().indexes().stream()
                        .map(canonical -> own(canonical.suffix()))
                        .anyMatch(name -> index.equals(name) || index.equals(name + "_wide"));
    }

    private void sync() throws SQLException {
        if (table.phase() != Phase.CLEAN && !isTrue(SyncTrigger.areThere(table))) {
            wrong(
                    Concern.SYNC_MISSING,
                    Guard.unsynced(table, table.phase()),
                    Phase.DUAL,
                    Phase.FLIPPED,
                    Phase.RENAMING);
        }
    }

    private void oldWriters() throws SQLException {
        if (isTrue(sql.isWrittenLately())) {
            add(
                    Concern.OLD_WRITER,
                    Guard.written(options.quietFor()),
                    false,
                    Phase.FLIPPED,
                    Phase.RENAMING,
                    Phase.CLEAN);
        }
    }

    private void rows() throws SQLException {
        findings.addAll(new RowChecks(table, consumer, table.phase()).findings(connection));
    }

    /** Not an obstacle, because a repeated flip completes it; but old applications may fail meanwhile. */
    private void begun() throws SQLException {
        if (table.phase() == Phase.DUAL && isTrue(sql.hasCanonicalChecks())) {
            add(
                    Concern.INTERRUPTED,
                    Phase.FLIPPED
                            + " was begun, and its rules count already, which an old application may break; run it"
                            + " again to go on, or go back to " + Phase.DUAL + " to take them away",
                    false);
        }
    }

    private void age() throws SQLException {
        if (table.phase() != Phase.ADDITIVE && table.phase() != Phase.CLEAN && isTrue(sql.isYoung(table.phase()))) {
            add(Concern.TOO_RECENT, Readiness.tooRecent(table.phase(), sql.noticed()), false, next());
        }
    }

    /** Pollers that tell of themselves also tell which phase they read; they do so twice a minute. */
    private void pollers() throws SQLException {
        if (table.phase() != Phase.CLEAN
                && isTrue(sql.hasPollers())
                && number("SELECT count(*) FROM " + sql.pollersBefore(table.phase())) > 0) {
            add(Concern.OLD_POLLER, Readiness.oldPoller(table.phase()), false, next());
        }
    }

    /** Columns of the application's own that our inserts would not fill. */
    private void strangers() {
        List<String> known = new ArrayList<>(table.oldColumns());
        table.canonical().columns().forEach(column -> known.add(table.now(column.name())));
        table.replacing().forEach(column -> known.add(LegacyNames.interim(column)));
        for (Column found : table.columns().values()) {
            if (!found.nullable() && !found.hasDefault() && !known.contains(found.name())) {
                wrong(
                        Concern.COLUMN_NULLABILITY,
                        "column " + found.name() + " does not belong to the library, is NOT NULL and has no default, so"
                                + " no message can be stored; give it a default or allow nulls",
                        next());
            }
        }
    }

    private void wrong(Concern concern, String text, Phase... blocks) {
        add(concern, text, true, blocks);
    }

    private void add(Concern concern, String text, boolean wrong, Phase... blocks) {
        findings.add(new Finding(concern, text, 0, wrong, Set.of(distinct(blocks))));
    }

    private static Phase[] distinct(Phase... phases) {
        return List.of(phases).stream().distinct().toArray(Phase[]::new);
    }

    private boolean isTrue(String condition) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT " + condition)) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private long number(String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
