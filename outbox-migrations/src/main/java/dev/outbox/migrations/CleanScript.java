package dev.outbox.migrations;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.migrations.Canonical.Column;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Writes what takes a table from phase 3 to 4.
 *
 * <p>A table that needed interim names settles first. The old columns go, canonical ones are added in their places and
 * kept equal to the interim ones by the same trigger, the same backfill completes them, and when they have their indexes
 * too the nodes are told to use them. A column that a node may still name is never dropped.
 */
final class CleanScript {
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final Upgrade.Options options;
    private final SyncTrigger trigger;
    private final TableSql sql;

    CleanScript(LegacyTable table, @Nullable String consumer, Upgrade.Options options) {
        this.table = table;
        this.consumer = consumer;
        this.options = options;
        this.trigger = new SyncTrigger(table, consumer);
        this.sql = new TableSql(table, options);
    }

    /** The first half of settling: the old columns give their names back. */
    List<Step> makeRoom() {
        LegacyTable after = table.withRoom();
        List<String> change = new ArrayList<>();
        change.add(mayMakeRoom().sql());
        change.addAll(trigger.drop());
        if (table.kind() == Kind.OUTBOX) {
            change.add(sql.primaryKey("_pkey_new"));
        }
        change.add(sql.dropColumns(table.oldColumns()));
        change.add(sql.alter(table.interims().stream()
                .map(column -> "ADD COLUMN " + Quoted.name(column) + " "
                        + table.kind().canonical.column(column).definition())
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
                .test(begun(), "it has begun to settle already; render this script again")
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
                .map(old -> "(%s, %s, %s)".formatted(Quoted.text(old.name()), Quoted.text(old.type()), old.bytewise()))
                .toList();
        return "(SELECT count(*) FROM pg_attribute WHERE attrelid = " + sql.regclass()
                + " AND (attname, format_type(atttypid, atttypmod), attcollation = '\"C\"'::regcollation) IN ("
                + String.join(", ", taken) + ")) < " + taken.size();
    }

    /** The second half, after the backfill: what canonical names stand for is as complete as what interim ones do. */
    List<Step> settle() {
        List<String> settled = table.settled();
        if (settled.isEmpty()) {
            return List.of();
        }
        List<String> indexes = new ArrayList<>();
        if (TableSql.names(String.join(" ", table.kind().canonical.primaryKey()), settled)) {
            indexes.addAll(sql.index(
                    "_pkey_new",
                    true,
                    "(" + String.join(", ", table.kind().canonical.primaryKey()) + ")"));
        }
        for (Canonical.Index index : table.kind().canonical.indexes()) {
            if (TableSql.names(index.body(), settled)) {
                indexes.addAll(sql.index(index.suffix() + "_new", index.unique(), index.body()));
            }
        }
        List<String> checks = new ArrayList<>();
        List<String> notNull = settled.stream()
                .filter(column -> table.kind().canonical.column(column).notNull())
                .map(Quoted::name)
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
        for (Canonical.Check check : table.kind().canonical.checks()) {
            if (TableSql.names(check.condition(), settled)) {
                checks.add(sql.check(check.suffix() + "_new", check.condition()));
                rules.add(check.suffix() + "_new");
            }
        }
        change.add(sql.mark(Phase.RENAMING));
        change.add(0, maySettle().validIndexes().validated(rules).sql());
        checks.add(0, maySettle().sql());
        return List.of(
                Step.together(List.of(
                        maySettle()
                                .test(
                                        "(" + new BackfillStatements(table, consumer).incomplete() + ") > 0",
                                        "it has rows that are not backfilled; run the backfill first")
                                .sql(),
                        trigger.close())),
                Step.alone(indexes),
                Step.together(checks),
                Step.alone(rules.stream().map(sql::validate).toList()),
                Step.alone(List.of("ANALYZE " + table.quoted())),
                Step.together(change));
    }

    private Guard maySettle() {
        return Guard.between(Phase.FLIPPED, Phase.RENAMING, table, options).synced(Phase.RENAMING);
    }

    /** Whatever is not in a freshly installed table goes, and what is different becomes the same. */
    List<Step> clean() {
        List<String> settled = table.settled();
        // after a step that failed the interim columns may be gone already
        Phase from = table.phase() == Phase.RENAMING || table.needsSettling() ? Phase.RENAMING : Phase.FLIPPED;
        List<Column> retyped = table.retyped();
        List<String> retypedNames = retyped.stream().map(Column::name).toList();
        List<Canonical.Index> rebuilt = table.kind().canonical.indexes().stream()
                .filter(index -> TableSql.names(index.body().replaceFirst("^[^)]*\\)", ""), retypedNames))
                .toList();
        List<Canonical.Check> rechecked = table.kind().canonical.checks().stream()
                .filter(check -> TableSql.names(check.condition(), retypedNames))
                .toList();

        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                mayClean(from)
                        .rows(new RowChecks(table, consumer, from).blocking(Phase.CLEAN))
                        .sql(),
                trigger.close())));
        // A partial index whose condition names a column would be rebuilt under the lock that changes the column's
        // type.
        List<String> stand = new ArrayList<>();
        for (Canonical.Index index : rebuilt) {
            stand.addAll(sql.index(
                    index.suffix() + "_wide", index.unique(), index.body().replaceFirst("(?s)\\s*WHERE.*", "")));
        }
        steps.add(Step.alone(stand));

        List<String> change = new ArrayList<>();
        change.add(mayClean(from).sql());
        change.addAll(trigger.drop());
        change.add(sql.primaryKey("_pkey_new"));
        List<String> gone = new ArrayList<>(table.oldColumns());
        gone.add(LegacyNames.LEGACY_WRITE);
        change.add(sql.dropColumns(gone));
        for (Canonical.Index index : table.kind().canonical.indexes()) {
            if (TableSql.names(index.body(), settled)) {
                change.add("ALTER INDEX IF EXISTS " + table.relation(index.suffix() + "_new") + " RENAME TO "
                        + table.own(index.suffix()));
            }
        }
        for (Canonical.Check check : table.kind().canonical.checks()) {
            if (TableSql.names(check.condition(), settled)) {
                change.add(sql.renameCheck(check.suffix() + "_new", check.suffix()));
            }
        }
        rebuilt.forEach(index -> change.add("DROP INDEX IF EXISTS " + table.relation(index.suffix())));
        rechecked.forEach(check -> change.add(sql.dropCheck(check.suffix())));
        List<String> columns = new ArrayList<>();
        retyped.forEach(column -> columns.add("ALTER COLUMN " + column.name() + " TYPE " + column.type()));
        settled.forEach(column -> columns.add("ALTER COLUMN " + column
                + (table.kind().canonical.column(column).fallback() == null
                        ? " DROP DEFAULT"
                        : " SET DEFAULT "
                                + table.kind().canonical.column(column).fallback())));
        if (!columns.isEmpty()) {
            change.add(sql.alter(columns));
        }
        rechecked.forEach(check -> change.add(sql.check(check.suffix(), check.condition())));
        change.add(identity());
        change.add("ALTER TABLE " + table.quoted() + " SET ("
                + String.join(", ", table.kind().canonical.options()) + ")");
        table.kind()
                .canonical
                .columns()
                .forEach(column -> change.add(sql.comment(
                        column.name(), table.kind().canonical.comments().getOrDefault(column.name(), ""))));
        steps.add(Step.together(change));

        List<String> last = new ArrayList<>();
        for (Canonical.Index index : table.kind().canonical.indexes()) {
            last.addAll(sql.index(index.suffix(), index.unique(), index.body()));
            last.add(sql.dropIndex(index.suffix() + "_wide"));
        }
        table.kind().canonical.checks().forEach(check -> last.add(sql.validate(check.suffix())));
        steps.add(Step.alone(last));
        steps.add(Step.together(List.of(mayClean(from).indexed().sql(), sql.mark(Phase.CLEAN))));
        return steps;
    }

    private Guard mayClean(Phase from) {
        return Guard.between(from, Phase.CLEAN, table, options).noticed(from).quiet();
    }

    /** Goes on numbering where the sequence was. */
    private String identity() {
        return Quoted.block("""
                DECLARE
                    next bigint;
                BEGIN
                    IF to_regclass(%1$s) IS NOT NULL
                        AND EXISTS (SELECT FROM pg_attribute WHERE attrelid = %2$s AND attname = 'sequence'
                            AND attidentity = '') THEN
                        next := nextval(%1$s);
                        ALTER TABLE %3$s ALTER COLUMN sequence DROP DEFAULT;
                        DROP SEQUENCE %4$s;
                        ALTER TABLE %3$s ALTER COLUMN sequence ADD GENERATED BY DEFAULT AS IDENTITY (CACHE 1);
                        PERFORM setval(pg_get_serial_sequence(%5$s, 'sequence'), next, false);
                    END IF;
                END""".formatted(
                        Quoted.text(table.relation("_sequence_seq")),
                        sql.regclass(),
                        table.quoted(),
                        table.relation("_sequence_seq"),
                        Quoted.text(table.quoted())));
    }
}
