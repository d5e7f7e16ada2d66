package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Readiness;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.time.Duration;
import java.util.List;

/**
 * The leading check of a transaction of a script, for those who run it without asking {@link Upgrade#report} before: it
 * refuses everything that {@link Upgrade#apply} would. What the table has come to already is not asked again, so that a
 * script may be repeated.
 */
final class Guard {
    private final LegacyTable table;
    private final TableSql sql;
    private final UpgradeOptions options;
    private final String there;
    private final StringBuilder tests = new StringBuilder();

    /** @param there when nothing of this has to be asked any more */
    private Guard(LegacyTable table, UpgradeOptions options, String there) {
        this.table = table;
        this.sql = new TableSql(table, options);
        this.options = options;
        this.there = there;
    }

    /** Refuses a table that is in neither of the two phases. */
    static Guard between(Phase from, Phase to, LegacyTable table, UpgradeOptions options) {
        TableSql sql = new TableSql(table, options);
        return new Guard(table, options, sql.says(to)).in(from, to);
    }

    /** Refuses a table that is in another phase, also one that is in the next phase already. */
    static Guard only(Phase from, Phase to, LegacyTable table, UpgradeOptions options) {
        return new Guard(table, options, "false").in(from, to);
    }

    private Guard in(Phase from, Phase to) {
        return test(
                "NOT (" + sql.says(from) + ")",
                "it must be in " + from + " to go to " + to + "; its comment names its phase");
    }

    /** Every node must have had the time to notice the phase. */
    Guard old(Phase phase) {
        return test(sql.isYoung(phase), Readiness.tooRecent(phase, sql.noticed()));
    }

    /** No poller with a recent heartbeat may still read an earlier phase either; not checked without the pollers' table. */
    Guard noticed(Phase phase) {
        old(phase);
        tests.append("    IF ").append(sql.hasPollers()).append(" THEN\n");
        test("EXISTS (SELECT FROM " + sql.pollersBefore(phase) + ")", Readiness.oldPoller(phase));
        tests.append("    END IF;\n");
        return this;
    }

    Guard quiet() {
        return test(sql.isWrittenLately(), written(options.quietFor()));
    }

    static String written(Duration quietFor) {
        return "an application wrote columns that are going to be dropped, and only those, within the last " + quietFor
                + "; stop the last old application, and wait that long";
    }

    Guard unreferenced() {
        return test(
                sql.isReferenced(),
                "a foreign key names a column that is going to be dropped; drop that foreign key first");
    }

    Guard synced(Phase run) {
        return test("NOT " + SyncTrigger.areThere(table), unsynced(table, run));
    }

    static String unsynced(LegacyTable table, Phase run) {
        return "one of the triggers " + String.join(", ", SyncTrigger.triggers(table))
                + " is missing or disabled, so that old and new columns drift apart; run " + run + " again";
    }

    /** Every index that the canonical table has is there, and none was left invalid by a failed build. */
    Guard indexed() {
        return allIndexes().validIndexes();
    }

    /** {@link #indexed()}, before a step that builds the index with this suffix, and anew if it is invalid. */
    Guard indexedBut(String suffix) {
        return allIndexes()
                .validIndexes(
                        " AND indexrelid IS DISTINCT FROM to_regclass(" + Literal.text(table.relation(suffix)) + ")");
    }

    private Guard allIndexes() {
        List<String> names = table.canonical().indexes().stream()
                .map(index -> Literal.text(table.name().name() + index.suffix()))
                .toList();
        return test(
                "(SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE i.indrelid = "
                        + sql.regclass() + " AND c.relname IN (" + String.join(", ", names) + ")) < " + names.size(),
                "it lacks an index; run " + Phase.DUAL + " again");
    }

    Guard validIndexes() {
        return validIndexes("");
    }

    private Guard validIndexes(String but) {
        return test(
                "EXISTS (SELECT FROM pg_index WHERE indrelid = " + sql.regclass() + " AND NOT indisvalid" + but + ")",
                "it has an index that a failed build left invalid; drop that index and run this again");
    }

    /** Every row is known to keep these rules, so that they need no check under a lock. */
    Guard validated(List<String> suffixes) {
        if (suffixes.isEmpty()) {
            return this;
        }
        return test(
                "(SELECT count(*) FROM pg_constraint WHERE conrelid = " + sql.regclass()
                        + " AND convalidated AND conname IN ("
                        + String.join(
                                ", ",
                                suffixes.stream()
                                        .map(suffix -> Literal.text(table.name().name() + suffix))
                                        .toList())
                        + ")) < " + suffixes.size(),
                "a rule of the canonical table has not been validated for every row; run this again");
    }

    Guard test(String condition, String reason) {
        tests.append("""
                    IF %s THEN
                        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
                            MESSAGE = %s;
                    END IF;
                """.formatted(condition, Literal.text("table " + table.name() + ": " + reason)));
        return this;
    }

    /** Refuses rows that these conditions are true of; all are looked for in one pass. */
    Guard rows(List<RowChecks.Condition> conditions) {
        if (conditions.isEmpty()) {
            return this;
        }
        StringBuilder texts = new StringBuilder();
        StringBuilder counts = new StringBuilder();
        for (int i = 0; i < conditions.size(); i++) {
            String comma = i == 0 ? "" : ",\n        ";
            texts.append(comma)
                    .append("CASE WHEN n%1$d > 0 THEN n%1$d || %2$s END"
                            .formatted(i, Literal.text(" " + conditions.get(i).text())));
            counts.append(comma)
                    .append("count(*) FILTER (WHERE %s) AS n%d"
                            .formatted(conditions.get(i).condition(), i));
        }
        tests.append("""
                    SELECT concat_ws(' / ', %s) INTO found
                    FROM (
                        SELECT %s
                        FROM %s t) counted;
                    IF found <> '' THEN
                        RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
                            MESSAGE = %s || found;
                    END IF;
                """.formatted(texts, counts, table.quoted(), Literal.text("table " + table.name() + ": ")));
        return this;
    }

    String sql() {
        return Block.of("""
                DECLARE
                    found text;
                BEGIN
                    IF %s THEN
                        RETURN;
                    END IF;
                %sEND""".formatted(there, tests));
    }
}
