package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes what gives a table that needed interim names its canonical ones, between phases 3 and 4.
 *
 * <p>The old columns go, canonical ones are added in their places and kept equal to the interim ones by the same trigger, the
 * same backfill completes them, and when they have their indexes too the nodes are told to use them. A column that a node may
 * still name is never dropped.
 */
final class RenamingScript {
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final UpgradeOptions options;
    private final SyncTrigger trigger;
    private final TableSql sql;

    RenamingScript(LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
        this.table = table;
        this.consumer = consumer;
        this.options = options;
        this.trigger = new SyncTrigger(table, consumer);
        this.sql = new TableSql(table, options);
    }

    /** The first half: the old columns give their names back. */
    List<Step> makeRoom() {
        LegacyTable after = table.withRoom();
        List<String> change = new ArrayList<>();
        change.add(mayMakeRoom().sql());
        change.addAll(trigger.drop());
        if (table.kind() == TableKind.OUTBOX) {
            change.add(sql.primaryKey("_pkey_new"));
        }
        change.add(sql.dropColumns(table.oldColumns()));
        change.add(sql.alter(table.interims().stream()
                .map(column -> "ADD COLUMN " + Quoted.postgres(column) + " "
                        + table.canonical().column(column).definition())
                .toList()));
        change.addAll(new SyncTrigger(after, consumer).bothWays());
        return List.of(
                Step.together(List.of(
                        mayMakeRoom()
                                .rows(new RowChecks(table, consumer, Phase.FLIPPED).blocking(Phase.RENAMING))
                                .sql(),
                        trigger.close())),
                Step.together(change));
    }

    private Guard mayMakeRoom() {
        return Guard.only(Phase.FLIPPED, Phase.RENAMING, table, options)
                .test(begun(), "its renaming has begun already; render this script again")
                .noticed(Phase.FLIPPED)
                .quiet()
                .synced(Phase.FLIPPED)
                .indexed();
    }

    /** Whether what this script takes for old columns has given way to canonical ones of the same names. */
    private String begun() {
        List<String> taken = table.interims().stream()
                .map(table.columns()::get)
                .filter(Objects::nonNull)
                .map(old -> "(%s, %s, %s)"
                        .formatted(Literal.text(old.name()), Literal.text(old.definition()), Canonical.isBytewise(old)))
                .toList();
        return "(SELECT count(*) FROM pg_attribute WHERE attrelid = " + sql.regclass()
                + " AND (attname, format_type(atttypid, atttypmod), attcollation = '\"C\"'::regcollation) IN ("
                + String.join(", ", taken) + ")) < " + taken.size();
    }

    /** The second half, after the backfill: what canonical names stand for is as complete as what interim ones do. */
    List<Step> rename() {
        List<String> replacing = table.replacing();
        if (replacing.isEmpty()) {
            return List.of();
        }
        List<String> indexes = new ArrayList<>();
        if (TableSql.names(String.join(" ", table.canonical().primaryKey()), replacing)) {
            indexes.addAll(sql.index(
                    "_pkey_new", true, "(" + String.join(", ", table.canonical().primaryKey()) + ")"));
        }
        for (Canonical.Index index : table.canonical().indexes()) {
            if (TableSql.names(index.body(), replacing)) {
                indexes.addAll(sql.index(index.suffix() + "_new", index.unique(), index.body()));
            }
        }
        List<String> checks = new ArrayList<>();
        List<String> notNull = replacing.stream()
                .filter(column -> table.canonical().column(column).notNull())
                .map(Quoted::postgres)
                .toList();
        List<String> change = new ArrayList<>();
        List<String> rules = new ArrayList<>();
        if (!notNull.isEmpty()) {
            rules.add("_complete");
            checks.add(sql.check(
                    "_complete",
                    String.join(
                            " AND ",
                            notNull.stream()
                                    .map(column -> column + " IS NOT NULL")
                                    .toList())));
            change.add(sql.alter(notNull.stream()
                    .map(column -> "ALTER COLUMN " + column + " SET NOT NULL")
                    .toList()));
            change.add(sql.dropCheck("_complete"));
        }
        for (Canonical.Check check : table.canonical().checks()) {
            if (TableSql.names(check.condition(), replacing)) {
                checks.add(sql.check(check.suffix() + "_new", check.condition()));
                rules.add(check.suffix() + "_new");
            }
        }
        change.add(sql.mark(Phase.RENAMING));
        change.add(0, mayRename().validIndexes().validated(rules).sql());
        checks.add(0, mayRename().sql());
        return List.of(
                Step.together(List.of(
                        mayRename()
                                .test(
                                        "(" + new PostgresBackfill(table, consumer).incomplete() + ") > 0",
                                        "it has rows that are not backfilled; run the backfill first")
                                .sql(),
                        trigger.close())),
                Step.alone(indexes),
                Step.together(checks),
                Step.alone(rules.stream().map(sql::validate).toList()),
                Step.alone(List.of("ANALYZE " + table.quoted())),
                Step.together(change));
    }

    private Guard mayRename() {
        return Guard.between(Phase.FLIPPED, Phase.RENAMING, table, options).synced(Phase.RENAMING);
    }
}
