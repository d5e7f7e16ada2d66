package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what takes a table one phase back. */
final class BackScript {
    private final LegacyTable table;
    private final UpgradeOptions options;
    private final @Nullable String consumer;
    private final SyncTrigger trigger;
    private final TableSql sql;

    BackScript(LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
        this.table = table;
        this.options = options;
        this.consumer = consumer;
        this.trigger = new SyncTrigger(table, consumer);
        this.sql = new TableSql(table, options);
    }

    List<Step> steps(Phase phase) {
        return switch (phase) {
            case LEGACY -> toLegacy();
            case ADDITIVE -> toAdditive();
            case DUAL -> toDual();
            case FLIPPED, RENAMING, CLEAN ->
                throw new IllegalArgumentException("a table can go back to phase 0, 1 or 2, not to " + phase);
        };
    }

    private Guard between(Phase from, Phase to) {
        return Guard.between(from, to, table, options);
    }

    /**
     * Takes away what phase 1 added. Nodes name it until they have noticed, so they are told first, and given the time
     * that they need.
     */
    private List<Step> toLegacy() {
        boolean leaves = table.phase() != Phase.LEGACY || table.isLeaving();
        List<String> change = new ArrayList<>();
        if (leaves) {
            change.add(mayLeave().sql());
        }
        change.addAll(trigger.drop());
        change.add("DROP INDEX IF EXISTS " + table.relation("_leased_old") + ", " + table.relation("_done_old"));
        if (!table.added().isEmpty()) {
            change.add(sql.dropColumns(table.added()));
        }
        change.add("DROP SEQUENCE IF EXISTS " + sql.sequence());
        change.add("DROP TABLE IF EXISTS " + table.relation("_backfill"));
        change.add(sql.mark(Phase.LEGACY));
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                between(Phase.ADDITIVE, Phase.LEGACY)
                        .rows(RowChecks.losses(table, consumer, Phase.LEGACY))
                        .sql(),
                trigger.close(),
                sql.markLeaving())));
        steps.add(sql.awaitNoticed(Phase.LEGACY));
        if (leaves) {
            steps.add(Step.together(List.of(mayLeave()
                    .rows(RowChecks.losses(table, consumer, Phase.LEGACY))
                    .sql())));
        }
        steps.add(Step.together(change));
        return steps;
    }

    private Guard mayLeave() {
        return Guard.only(Phase.LEGACY, Phase.LEGACY, table, options).old(Phase.LEGACY);
    }

    /** Claims go by the old columns again; they are as good as before. */
    private List<Step> toAdditive() {
        String guard = between(Phase.DUAL, Phase.ADDITIVE)
                .rows(RowChecks.losses(table, consumer, Phase.ADDITIVE))
                .sql();
        return List.of(
                Step.together(List.of(guard, trigger.close())),
                Step.alone(sql.oldIndexes()),
                Step.together(List.of(guard, sql.mark(Phase.ADDITIVE))));
    }

    /** Both sides count again, as long as the old one can tell everything that is still to be done. */
    private List<Step> toDual() {
        table.refuseIfRenaming(Phase.DUAL);
        List<Step> steps = new ArrayList<>();
        Guard guard = between(Phase.FLIPPED, Phase.DUAL).rows(RowChecks.losses(table, consumer, Phase.DUAL));
        if (table.kind() == TableKind.INBOX) {
            guard.test(
                    "EXISTS (SELECT FROM %s GROUP BY %s HAVING count(*) > 1)"
                            .formatted(table.quoted(), sql.now("message_id")),
                    "it has the same message id from several sources, which phase 2 cannot tell apart; remove all but"
                            + " one of them");
        }
        steps.add(Step.together(List.of(guard.sql(), trigger.close())));
        List<String> change = new ArrayList<>();
        change.add(between(Phase.FLIPPED, Phase.DUAL).validIndexes().sql());
        // A flip that was interrupted may have left the old one.
        if (!table.rowKey().equals("work_item_id") && table.keyIsCanonical()) {
            List<String> indexes =
                    new ArrayList<>(sql.index("_pkey_old", true, "(" + Quoted.postgres(table.rowKey()) + ")"));
            indexes.addAll(sql.index("_pkey_new", true, sql.canonicalKey()));
            steps.add(Step.alone(indexes));
            change.add(sql.primaryKey("_pkey_old"));
        }
        List<String> defaults = table.canonical().columns().stream()
                .filter(column -> !column.name().equals(Canonical.SEQUENCE))
                .filter(column -> table.added().contains(table.now(column.name())))
                .map(column -> "ALTER COLUMN " + sql.now(column.name()) + " DROP DEFAULT")
                .toList();
        change.add(sql.alter(defaults));
        // Old applications leave arrivals without a topic unfinished, for one.
        table.canonical().checks().forEach(check -> change.add(sql.dropCheck(check.suffix())));
        change.add(sql.dropCheck("_complete")); // which a flip that was interrupted has left
        change.addAll(trigger.bothWays());
        change.add(sql.mark(Phase.DUAL));
        steps.add(Step.together(change));
        return steps;
    }
}
