package dev.outbox.migrations;

import dev.outbox.migrations.Canonical.Column;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what takes a table from phase 0 to 3 and back, for the columns that were found in it. */
final class PhaseScript {
    private final LegacyTable table;
    private final Upgrade.Options options;
    private final @Nullable String consumer;
    private final SyncTrigger trigger;
    private final TableSql sql;

    PhaseScript(LegacyTable table, @Nullable String consumer, Upgrade.Options options) {
        this.table = table;
        this.options = options;
        this.consumer = consumer;
        this.trigger = new SyncTrigger(table, consumer);
        this.sql = new TableSql(table, options);
    }

    /** The new columns, the sequence that numbers new rows, and the trigger: all in one short transaction. */
    List<Step> additive() {
        List<String> adds = new ArrayList<>();
        // First, so that what comes after it is known to be ours.
        adds.add("ADD COLUMN IF NOT EXISTS " + LegacyTable.LEGACY_WRITE + " timestamptz");
        for (Column column : table.kind().canonical.columns()) {
            adds.add("ADD COLUMN IF NOT EXISTS " + sql.now(column.name()) + " " + column.definition());
        }
        List<String> change = new ArrayList<>();
        change.add(sql.refuseUnlessIn(Phase.LEGACY, Phase.ADDITIVE));
        change.add(sql.alter(adds));
        change.addAll(trigger.bothWays());
        change.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN sequence SET DEFAULT nextval("
                + Quoted.text(sequence()) + ")");
        change.add("ALTER SEQUENCE " + sequence() + " OWNED BY " + table.quoted() + ".sequence");
        if (consumer != null) {
            change.add(sql.comment("consumer", "dev.outbox consumer " + consumer));
        }
        change.add(sql.mark(Phase.ADDITIVE));
        // Numbers below the start are for the rows that are there, and for those that come until the trigger does.
        String start = """
                DO $$
                BEGIN
                    IF to_regclass(%s) IS NULL THEN
                        EXECUTE format('CREATE SEQUENCE %s START %%s CACHE 1',
                            (SELECT 2 * count(*) + 1000000 FROM %s));
                    END IF;
                END $$""".formatted(Quoted.text(sequence()), sequence(), table.quoted());
        return List.of(Step.together(List.of(start)), Step.together(change));
    }

    private String sequence() {
        return table.relation("_sequence_seq");
    }

    /** The indexes, now that the backfill need not maintain them, and then the claims by them. */
    List<Step> dual() {
        List<String> indexes = new ArrayList<>();
        if (!table.keyIsCanonical()) {
            indexes.addAll(sql.index("_pkey_new", true, canonicalKey()));
        }
        for (Canonical.Index index : table.kind().canonical.indexes()) {
            indexes.addAll(sql.index(index.suffix(), index.unique(), sql.physical(index.body())));
        }
        return List.of(
                Step.together(List.of(
                        sql.refuseUnlessIn(Phase.ADDITIVE, Phase.DUAL),
                        sql.refuseIf(
                                "EXISTS (SELECT FROM " + table.quoted() + " WHERE sequence IS NULL)",
                                "it has rows that are not backfilled; run the backfill first"))),
                Step.alone(indexes),
                Step.alone(List.of("ANALYZE " + table.quoted())),
                Step.together(List.of(sql.refuseIfInvalidIndexes(), sql.mark(Phase.DUAL))));
    }

    private String canonicalKey() {
        return "("
                + String.join(
                        ", ",
                        table.kind().canonical.primaryKey().stream()
                                .map(sql::now)
                                .toList()) + ")";
    }

    /** What the canonical table demands of its columns is demanded of the new ones, and the old ones follow them. */
    List<Step> flip() {
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                sql.refuseUnlessIn(Phase.DUAL, Phase.FLIPPED),
                sql.refuseIfInvalidIndexes(),
                sql.refuseIfYoung(Phase.DUAL),
                sql.refuseIf(
                        "EXISTS (SELECT FROM " + table.quoted() + " WHERE " + LegacyTable.LEGACY_WRITE
                                + " > statement_timestamp() - interval '" + TableSql.seconds(options.quietFor()) + "')",
                        "somebody wrote only its old columns within the last " + options.quietFor()
                                + "; stop the last old application and wait that long"))));
        if (table.kind() == Kind.INBOX) {
            // Arrived and not processed, and no topic to handle it by: its next arrival is the first.
            steps.add(Step.alone(List.of("DELETE FROM " + table.quoted() + " WHERE " + sql.now("topic")
                    + " IS NULL AND " + sql.now("status") + " < 2")));
        }
        List<String> checks = new ArrayList<>(List.of(sql.check("_complete", complete())));
        List<String> validations = new ArrayList<>(List.of(sql.validate("_complete")));
        for (Canonical.Check check : table.kind().canonical.checks()) {
            checks.add(sql.check(check.suffix(), sql.physical(check.condition())));
            validations.add(sql.validate(check.suffix()));
        }
        steps.add(Step.together(checks));
        steps.add(Step.alone(validations));
        List<String> change = new ArrayList<>();
        change.add(sql.alter(defaults()));
        change.add(sql.alter(notNull().stream()
                .map(column -> "ALTER COLUMN " + column + " SET NOT NULL")
                .toList()));
        change.add(sql.dropCheck("_complete"));
        List<String> nullable = nullableOld();
        if (!nullable.isEmpty()) {
            change.add(sql.alter(nullable));
        }
        if (table.kind() == Kind.INBOX) {
            change.add(sql.primaryKey("_pkey_new"));
        }
        change.addAll(trigger.onward());
        table.pairs().forEach(pair -> change.add(deprecate(pair.old(), pair.now())));
        if (table.processed() != null) {
            change.add(deprecate(table.processed(), table.now("status")));
        }
        change.add(sql.mark(Phase.FLIPPED));
        steps.add(Step.together(change));
        return steps;
    }

    private String complete() {
        return String.join(
                " AND ",
                notNull().stream().map(column -> column + " IS NOT NULL").toList());
    }

    private List<String> notNull() {
        return table.kind().canonical.columns().stream()
                .filter(Column::notNull)
                .map(column -> sql.now(column.name()))
                .toList();
    }

    private List<String> defaults() {
        return table.kind().canonical.columns().stream()
                .filter(column -> !column.name().equals(Canonical.SEQUENCE))
                .map(column -> "ALTER COLUMN " + sql.now(column.name())
                        + (column.fallback() == null ? " DROP DEFAULT" : " SET DEFAULT " + column.fallback()))
                .toList();
    }

    /** What the canonical table may leave null must be free to be null on the old side too. */
    private List<String> nullableOld() {
        List<String> changes = new ArrayList<>();
        for (Column column : table.kind().canonical.columns()) {
            Pair pair = table.pair(column.name());
            LegacyTable.Found found = table.columns().get(pair == null ? column.name() : pair.old());
            if (!column.notNull() && found != null && found.notNull() && !found.keyed()) {
                changes.add("ALTER COLUMN " + Quoted.name(found.name()) + " DROP NOT NULL");
            }
        }
        return changes;
    }

    private String deprecate(String old, String now) {
        return sql.comment(old, "Deprecated: read " + now + "; dropped in phase 4");
    }

    /** Takes away what phase 1 added. */
    List<Step> backToLegacy() {
        List<String> change = new ArrayList<>();
        change.add(sql.refuseUnlessIn(Phase.ADDITIVE, Phase.LEGACY));
        change.addAll(trigger.drop());
        if (!table.added().isEmpty()) {
            change.add(sql.dropColumns(table.added()));
        }
        change.add("DROP SEQUENCE IF EXISTS " + sequence());
        change.add("DROP TABLE IF EXISTS " + table.relation("_backfill"));
        change.add(sql.mark(Phase.LEGACY));
        return List.of(Step.together(change));
    }

    /** Claims go by the old columns again; they are as good as before. */
    List<Step> backToAdditive() {
        return List.of(
                Step.together(List.of(sql.refuseUnlessIn(Phase.DUAL, Phase.ADDITIVE), sql.mark(Phase.ADDITIVE))));
    }

    /** Both sides count again, as long as the old one can tell everything that is still to be done. */
    List<Step> backToDual() {
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                sql.refuseUnlessIn(Phase.FLIPPED, Phase.DUAL),
                sql.refuseIf(
                        "EXISTS (SELECT FROM %s WHERE %s < 2 AND (message_key IS NOT NULL OR payload_bytes IS NOT NULL))"
                                .formatted(table.quoted(), sql.now("status")),
                        "it has unfinished messages with a key or a binary payload, which old applications cannot"
                                + " handle; let them finish first"))));
        List<String> change = new ArrayList<>();
        if (table.kind() == Kind.INBOX) {
            List<String> indexes =
                    new ArrayList<>(sql.index("_pkey_old", true, "(" + Quoted.name(table.rowKey()) + ")"));
            indexes.addAll(sql.index("_pkey_new", true, canonicalKey()));
            steps.add(Step.alone(indexes));
            change.add(sql.refuseIfInvalidIndexes());
            change.add(sql.primaryKey("_pkey_old"));
        }
        List<String> defaults = table.kind().canonical.columns().stream()
                .filter(column -> !column.name().equals(Canonical.SEQUENCE))
                .filter(column -> table.added().contains(table.now(column.name())))
                .map(column -> "ALTER COLUMN " + sql.now(column.name()) + " DROP DEFAULT")
                .toList();
        change.add(sql.alter(defaults));
        // Old applications leave arrivals without a topic unfinished, for one.
        table.kind().canonical.checks().forEach(check -> change.add(sql.dropCheck(check.suffix())));
        change.addAll(trigger.bothWays());
        change.add(sql.mark(Phase.DUAL));
        steps.add(Step.together(change));
        return steps;
    }
}
