package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes what takes a table from phase 0 to 3 and back, for the columns that were found in it. */
final class PhaseScript {
    private final LegacyTable table;
    private final UpgradeOptions options;
    private final @Nullable String consumer;
    private final SyncTrigger trigger;
    private final TableSql sql;

    PhaseScript(LegacyTable table, @Nullable String consumer, UpgradeOptions options) {
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
        adds.add("ADD COLUMN IF NOT EXISTS " + LegacyNames.LEGACY_WRITE + " timestamptz");
        for (Canonical.Column column : table.canonical().columns()) {
            adds.add("ADD COLUMN IF NOT EXISTS " + sql.now(column.name()) + " " + column.definition());
        }
        List<String> change = new ArrayList<>();
        change.add(between(Phase.LEGACY, Phase.ADDITIVE).sql());
        change.add(sql.alter(adds));
        change.add("CREATE SEQUENCE IF NOT EXISTS " + sql.oldWrites() + " CACHE 1");
        change.add(
                "ALTER SEQUENCE " + sql.oldWrites() + " OWNED BY " + table.quoted() + "." + LegacyNames.LEGACY_WRITE);
        change.addAll(trigger.bothWays());
        change.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN sequence SET DEFAULT nextval("
                + Literal.text(sql.sequence()) + ")");
        change.add("ALTER SEQUENCE " + sql.sequence() + " OWNED BY " + table.quoted() + ".sequence");
        // Every role that may store a row must draw a number, as from an identity column; drawing one alone does no
        // harm.
        change.add("GRANT USAGE ON SEQUENCE " + sql.sequence() + " TO PUBLIC");
        if (consumer != null) {
            change.add(sql.comment("consumer", "dev.outbox consumer " + consumer));
        }
        change.add(sql.mark(Phase.ADDITIVE));
        // Numbers below the start are for the rows that are there, and for those that come until the trigger does.
        // A sequence that an interrupted run has left, which no column owns yet, starts anew: there may be more rows by
        // now.
        String start = Block.of("""
                BEGIN
                    CREATE SEQUENCE IF NOT EXISTS %1$s CACHE 1;
                    IF NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND deptype = 'a'
                            AND objid = %2$s::regclass) THEN
                        EXECUTE format('ALTER SEQUENCE %4$s START %%1$s RESTART %%1$s',
                            (SELECT 2 * count(*) + 1000000 FROM %3$s));
                    END IF;
                END""".formatted(
                        sql.sequence(), Literal.text(sql.sequence()), table.quoted(), Block.escaped(sql.sequence())));
        return List.of(
                Step.together(List.of(between(Phase.LEGACY, Phase.ADDITIVE).sql(), start)),
                Step.together(change),
                Step.alone(sql.oldIndexes()));
    }

    private List<String> dropOldIndexes() {
        return List.of(sql.dropIndex("_leased_old"), sql.dropIndex("_done_old"));
    }

    private Guard between(Phase from, Phase to) {
        return Guard.between(from, to, table, options);
    }

    private List<RowChecks.Condition> rowsBlocking(Phase from, Phase to) {
        return new RowChecks(table, consumer, from).blocking(to);
    }

    /** The indexes, now that the backfill need not maintain them, and then the claims by them. */
    List<Step> dual() {
        List<String> indexes = new ArrayList<>();
        if (table.kind() == TableKind.INBOX) {
            indexes.addAll(newKey());
        }
        for (Canonical.Index index : table.canonical().indexes()) {
            indexes.addAll(sql.index(index.suffix(), index.unique(), table.physical(index.body())));
        }
        indexes.addAll(sql.dropIfInvalid("_leased_old"));
        indexes.addAll(sql.dropIfInvalid("_done_old"));
        return List.of(
                Step.together(List.of(
                        between(Phase.ADDITIVE, Phase.DUAL)
                                .synced(Phase.ADDITIVE)
                                .rows(rowsBlocking(Phase.ADDITIVE, Phase.DUAL))
                                .sql(),
                        trigger.close())),
                Step.alone(indexes),
                Step.alone(List.of("ANALYZE " + table.quoted())),
                Step.together(List.of(
                        between(Phase.ADDITIVE, Phase.DUAL)
                                .synced(Phase.ADDITIVE)
                                .indexed()
                                .sql(),
                        sql.mark(Phase.DUAL))),
                Step.alone(dropOldIndexes()));
    }

    /** Becomes the primary key, which an interrupted step may have made it already. */
    private List<String> newKey() {
        return table.keyIsCanonical() ? List.of() : sql.index("_pkey_new", true, sql.canonicalKey());
    }

    /** The new columns get the rules of the canonical table, and the old ones follow them. */
    List<Step> flip() {
        List<Step> steps = new ArrayList<>();
        if (table.kind() == TableKind.INBOX) {
            steps.add(Step.together(List.of(
                    readyToFlip()
                            .indexed()
                            .rows(rowsBlocking(Phase.DUAL, Phase.FLIPPED))
                            .sql(),
                    trigger.close())));
            steps.add(Step.alone(List.of(forgetUnfinishedArrivals())));
        } else {
            steps.add(Step.together(List.of(
                    readyToFlip()
                            .indexedBut("_pkey_new")
                            .rows(rowsBlocking(Phase.DUAL, Phase.FLIPPED))
                            .sql(),
                    trigger.close())));
            steps.add(Step.alone(newKey()));
        }
        List<String> checks = new ArrayList<>();
        checks.add(readyToFlip().indexed().sql());
        checks.add(sql.check("_complete", complete()));
        List<String> suffixes = new ArrayList<>(List.of("_complete"));
        for (Canonical.Check check : table.canonical().checks()) {
            checks.add(sql.check(check.suffix(), table.physical(check.condition())));
            suffixes.add(check.suffix());
        }
        steps.add(Step.together(checks));
        steps.add(Step.alone(suffixes.stream().map(sql::validate).toList()));
        List<String> change = new ArrayList<>();
        change.add(readyToFlip().indexed().validated(suffixes).sql());
        change.add(sql.alter(defaults()));
        change.add(sql.alter(notNull().stream()
                .map(column -> "ALTER COLUMN " + column + " SET NOT NULL")
                .toList()));
        change.add(sql.dropCheck("_complete"));
        List<String> nullable = nullableOld();
        if (!nullable.isEmpty()) {
            change.add(sql.alter(nullable));
        }
        if (table.kind() == TableKind.INBOX) {
            change.add(sql.primaryKey("_pkey_new"));
        }
        change.addAll(trigger.onward());
        table.pairs().forEach(pair -> change.add(deprecate(pair.old(), pair.now())));
        if (table.processed() != null) {
            change.add(deprecate(table.processed(), table.now("status")));
        }
        change.add(sql.mark(Phase.FLIPPED));
        steps.add(Step.together(change));
        if (table.kind() == TableKind.OUTBOX) {
            // Until then nodes may still look for rows by the old key.
            steps.add(sql.awaitNoticed(Phase.FLIPPED));
            steps.add(Step.together(List.of(
                    Guard.only(Phase.FLIPPED, Phase.FLIPPED, table, options).sql(), sql.primaryKey("_pkey_new"))));
        }
        return steps;
    }

    private Guard readyToFlip() {
        return between(Phase.DUAL, Phase.FLIPPED)
                .noticed(Phase.DUAL)
                .quiet()
                .unreferenced()
                .synced(Phase.DUAL);
    }

    /**
     * Deletes arrivals that are not processed and have no topic to handle them by: the next arrival counts as the first. In
     * small transactions, because there may be many.
     */
    private String forgetUnfinishedArrivals() {
        return Block.of("""
                DECLARE
                    places tid[];
                BEGIN
                    WHILE %1$s LOOP
                        places := ARRAY(SELECT ctid FROM %2$s WHERE %3$s LIMIT 100000);
                        EXIT WHEN cardinality(places) = 0;
                        FOR batch IN 0 .. (cardinality(places) - 1) / 1000 LOOP
                            DELETE FROM %2$s
                            WHERE ctid = ANY (places[batch * 1000 + 1 : batch * 1000 + 1000]) AND %3$s;
                            COMMIT;
                        END LOOP;
                    END LOOP;
                END""".formatted(
                sql.says(Phase.DUAL), table.quoted(), sql.now("topic") + " IS NULL AND " + sql.now("status") + " < 2"));
    }

    private String complete() {
        return String.join(
                " AND ",
                notNull().stream().map(column -> column + " IS NOT NULL").toList());
    }

    private List<String> notNull() {
        return table.canonical().columns().stream()
                .filter(Canonical.Column::notNull)
                .map(column -> sql.now(column.name()))
                .toList();
    }

    private List<String> defaults() {
        return table.canonical().columns().stream()
                .filter(column -> !column.name().equals(Canonical.SEQUENCE))
                .map(column -> "ALTER COLUMN " + sql.now(column.name())
                        + (column.fallback() == null ? " DROP DEFAULT" : " SET DEFAULT " + column.fallback()))
                .toList();
    }

    /** Where the canonical table allows nulls, the old column must allow them too. */
    private List<String> nullableOld() {
        List<String> changes = new ArrayList<>();
        for (Canonical.Column column : table.canonical().columns()) {
            Pair pair = table.pair(column.name());
            Column found = table.columns().get(pair == null ? column.name() : pair.old());
            if (!column.notNull() && found != null && !found.nullable() && !found.keyed()) {
                changes.add("ALTER COLUMN " + Quoted.postgres(found.name()) + " DROP NOT NULL");
            }
        }
        return changes;
    }

    private String deprecate(String old, String now) {
        return sql.comment(old, "Deprecated: read " + now + "; dropped in phase 4");
    }
}
