package dev.outbox.migrations;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;

/** The single statements that scripts are made of, each of which may be repeated. */
final class TableSql {
    private final LegacyTable table;
    private final Upgrade.Options options;

    TableSql(LegacyTable table, Upgrade.Options options) {
        this.table = table;
        this.options = options;
    }

    String alter(List<String> changes) {
        return "ALTER TABLE " + table.quoted() + "\n    " + String.join(",\n    ", changes);
    }

    String dropColumns(List<String> columns) {
        return alter(columns.stream()
                .map(column -> "DROP COLUMN IF EXISTS " + Quoted.name(column))
                .toList());
    }

    /** A check that counts for new rows at once; old ones are looked at by {@link #validate}, without a lock. */
    String check(String suffix, String condition) {
        return "ALTER TABLE " + table.quoted() + " DROP CONSTRAINT IF EXISTS " + table.own(suffix) + ", ADD CONSTRAINT "
                + table.own(suffix) + " CHECK (" + condition + ") NOT VALID";
    }

    String validate(String suffix) {
        return "ALTER TABLE " + table.quoted() + " VALIDATE CONSTRAINT " + table.own(suffix);
    }

    String dropCheck(String suffix) {
        return "ALTER TABLE " + table.quoted() + " DROP CONSTRAINT IF EXISTS " + table.own(suffix);
    }

    String renameCheck(String from, String to) {
        return """
                DO $$
                BEGIN
                    IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = %s AND conname = %s) THEN
                        ALTER TABLE %s RENAME CONSTRAINT %s TO %s;
                    END IF;
                END $$""".formatted(
                regclass(), Quoted.text(table.name().name() + from), table.quoted(), table.own(from), table.own(to));
    }

    /** An index that a build left invalid serves nobody, and IF NOT EXISTS would be content with it. */
    List<String> index(String suffix, boolean unique, String body) {
        List<String> statements = new ArrayList<>();
        if (Boolean.FALSE.equals(table.indexes().get(table.name().name() + suffix))) {
            statements.add(dropIndex(suffix));
        }
        statements.add("CREATE " + (unique ? "UNIQUE " : "") + "INDEX CONCURRENTLY IF NOT EXISTS " + table.own(suffix)
                + " ON " + table.quoted() + " " + body);
        return statements;
    }

    String dropIndex(String suffix) {
        return "DROP INDEX CONCURRENTLY IF EXISTS " + table.relation(suffix);
    }

    /** Makes the index of this name the primary key, unless it is one already. */
    String primaryKey(String suffix) {
        return """
                DO $$
                BEGIN
                    IF to_regclass(%s) IS NOT NULL THEN
                        ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;
                        ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s;
                    END IF;
                END $$""".formatted(
                        Quoted.text(table.relation(suffix)),
                        table.quoted(),
                        Quoted.name(table.primaryKey() == null ? table.name().name() + "_pkey" : table.primaryKey()),
                        table.quoted(),
                        table.own("_pkey"),
                        table.own(suffix));
    }

    String comment(String column, String text) {
        return "COMMENT ON COLUMN " + table.quoted() + "." + Quoted.name(column) + " IS "
                + (text.isEmpty() ? "NULL" : Quoted.text(text));
    }

    /** Puts the phase into the table's comment, beside whatever else it says, and when unless it says so already. */
    String mark(Phase phase) {
        String kept = "NULLIF(regexp_replace(" + description() + ", '(^|\\n)" + marker() + "[^\\n]*', '', 'g'), '')";
        String line = Quoted.text(table.kind().marker + phase.mark());
        String comment = switch (phase) {
            case LEGACY -> kept;
            case CLEAN -> "concat_ws(E'\\n', " + kept + ", " + line + ")";
            default ->
                "concat_ws(E'\\n', " + kept + ", " + line + " || ' since ' || to_char(clock_timestamp() AT"
                        + " TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))";
        };
        return """
                DO $$
                BEGIN
                    IF NOT (%s) THEN
                        EXECUTE format('COMMENT ON TABLE %s IS %%L', %s);
                    END IF;
                END $$""".formatted(says(phase), table.quoted(), comment);
    }

    /** Whether the comment says this phase. */
    private String says(Phase phase) {
        return phase == Phase.LEGACY
                ? description() + " !~ '(^|\\n)" + marker() + "'"
                : description() + " ~ '(^|\\n)" + marker() + phase.mark() + "( since [^\\n]*)?(\\n|$)'";
    }

    private String description() {
        return "COALESCE(obj_description(" + regclass() + ", 'pg_class'), '')";
    }

    private String marker() {
        return table.kind().marker.replace(".", "\\.");
    }

    String refuseUnlessIn(Phase from, Phase to) {
        return refuseIf(
                "NOT (" + says(from) + " OR " + says(to) + ")",
                "it must be in " + from + " to go to " + to + "; look at its comment for where it is");
    }

    /** Every node must have had the time to notice the phase before. */
    String refuseIfYoung(Phase phase) {
        Duration wait = options.refreshInterval().multipliedBy(2);
        return refuseIf(
                says(phase) + " AND substring(" + description() + " FROM '" + marker() + phase.mark()
                        + " since ([^\\n]*)')::timestamptz > clock_timestamp() - interval '" + seconds(wait) + "'",
                "it came to " + phase + " less than " + wait
                        + " ago, and not every node may have noticed; wait that long");
    }

    String refuseIfInvalidIndexes() {
        return refuseIf(
                "EXISTS (SELECT FROM pg_index WHERE indrelid = " + regclass() + " AND NOT indisvalid)",
                "it has an index that a failed build left invalid; drop that index and run phase 2 again");
    }

    String refuseIf(String condition, String reason) {
        return """
                DO $$
                BEGIN
                    IF %s THEN
                        RAISE EXCEPTION 'table %s: %s'
                            USING ERRCODE = 'object_not_in_prerequisite_state';
                    END IF;
                END $$""".formatted(condition, table.name(), reason);
    }

    String regclass() {
        return Quoted.text(table.quoted()) + "::regclass";
    }

    String now(String canonical) {
        return Quoted.name(table.now(canonical));
    }

    /** A text of the canonical script, with the names that its columns have now. */
    String physical(String text) {
        String result = text;
        for (String column : table.interims()) {
            result = result.replaceAll("\\b" + column + "\\b", Matcher.quoteReplacement(now(column)));
        }
        return result;
    }

    static boolean names(String text, List<String> columns) {
        return columns.stream().anyMatch(column -> text.matches("(?s).*\\b" + column + "\\b.*"));
    }

    static String seconds(Duration length) {
        return String.format(Locale.ROOT, "%d.%03d seconds", length.toSeconds(), length.toMillisPart());
    }
}
