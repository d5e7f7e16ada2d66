package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes what takes a table to phase 4: what is old goes, and the rest becomes as if freshly installed. A column that a node
 * may still name is never dropped.
 */
final class CleanScript {
    private final LegacyTable table;
    private final @Nullable String consumer;
    private final UpgradeOptions options;
    private final SyncTrigger trigger;
    private final TableSql sql;

    CleanScript(LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
        this.table = table;
        this.consumer = consumer;
        this.options = options;
        this.trigger = new SyncTrigger(table, consumer);
        this.sql = new TableSql(table, options);
    }

    /** Drops everything that a freshly installed table does not have, and changes what is different. */
    List<Step> clean() {
        List<String> replacing = table.replacing();
        // after a step that failed the interim columns may be gone already
        Phase from = table.phase() == Phase.RENAMING || table.needsRenaming() ? Phase.RENAMING : Phase.FLIPPED;
        List<Canonical.Column> retyped = table.retyped();
        List<String> retypedNames = retyped.stream().map(Canonical.Column::name).toList();
        List<Canonical.Index> rebuilt = table.canonical().indexes().stream()
                .filter(index -> TableSql.names(index.body().replaceFirst("^[^)]*\\)", ""), retypedNames))
                .toList();
        List<Canonical.Check> rechecked = table.canonical().checks().stream()
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
        for (Canonical.Index index : table.canonical().indexes()) {
            if (TableSql.names(index.body(), replacing)) {
                change.add("ALTER INDEX IF EXISTS " + table.relation(index.suffix() + "_new") + " RENAME TO "
                        + table.own(index.suffix()));
            }
        }
        for (Canonical.Check check : table.canonical().checks()) {
            if (TableSql.names(check.condition(), replacing)) {
                change.add(sql.renameCheck(check.suffix() + "_new", check.suffix()));
            }
        }
        rebuilt.forEach(index -> change.add("DROP INDEX IF EXISTS " + table.relation(index.suffix())));
        rechecked.forEach(check -> change.add(sql.dropCheck(check.suffix())));
        List<String> columns = new ArrayList<>();
        retyped.forEach(column -> columns.add("ALTER COLUMN " + column.name() + " TYPE " + column.type()));
        replacing.forEach(column -> columns.add("ALTER COLUMN " + column
                + (table.canonical().column(column).fallback() == null
                        ? " DROP DEFAULT"
                        : " SET DEFAULT " + table.canonical().column(column).fallback())));
        if (!columns.isEmpty()) {
            change.add(sql.alter(columns));
        }
        rechecked.forEach(check -> change.add(sql.check(check.suffix(), check.condition())));
        change.add(identity());
        change.add("ALTER TABLE " + table.quoted() + " SET ("
                + String.join(", ", table.canonical().options()) + ")");
        table.canonical()
                .columns()
                .forEach(column -> change.add(
                        sql.comment(column.name(), table.canonical().comments().getOrDefault(column.name(), ""))));
        steps.add(Step.together(change));

        List<String> last = new ArrayList<>();
        for (Canonical.Index index : table.canonical().indexes()) {
            last.addAll(sql.index(index.suffix(), index.unique(), index.body()));
            last.add(sql.dropIndex(index.suffix() + "_wide"));
        }
        table.canonical().checks().forEach(check -> last.add(sql.validate(check.suffix())));
        steps.add(Step.alone(last));
        steps.add(Step.together(List.of(mayClean(from).indexed().sql(), sql.mark(Phase.CLEAN))));
        return steps;
    }

    private Guard mayClean(Phase from) {
        return Guard.between(from, Phase.CLEAN, table, options).noticed(from).quiet();
    }

    /** Goes on numbering where the sequence was. */
    private String identity() {
        return Block.of("""
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
                        Literal.text(table.relation("_sequence_seq")),
                        sql.regclass(),
                        table.quoted(),
                        table.relation("_sequence_seq"),
                        Literal.text(table.quoted())));
    }
}
