package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Index;
import dev.outbox.jdbc.internal.catalog.PhaseMarker;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.internal.Literal;
import dev.outbox.migrations.internal.Step;
import dev.outbox.migrations.internal.UpgradeOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The single statements that scripts are made of, each of which may be repeated. */
final class TableSql {
    private final LegacyTable table;
    private final UpgradeOptions options;

    TableSql(LegacyTable table, UpgradeOptions options) {
        this.table = table;
        this.options = options;
    }

    String alter(List<String> changes) {
        return "ALTER TABLE " + table.quoted() + "\n    " + String.join(",\n    ", changes);
    }

    String dropColumns(List<String> columns) {
        return alter(columns.stream()
                .map(column -> "DROP COLUMN IF EXISTS " + Quoted.postgres(column))
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
        return Block.of("""
                BEGIN
                    IF EXISTS (SELECT FROM pg_constraint WHERE conrelid = %s AND conname = %s) THEN
                        ALTER TABLE %s RENAME CONSTRAINT %s TO %s;
                    END IF;
                END""".formatted(
                regclass(), Literal.text(table.name().name() + from), table.quoted(), table.own(from), table.own(to)));
    }

    /** An index that a failed build left invalid is of no use, but IF NOT EXISTS would keep it. */
    List<String> index(String suffix, boolean unique, String body) {
        List<String> statements = new ArrayList<>(dropIfInvalid(suffix));
        statements.add("CREATE " + (unique ? "UNIQUE " : "") + "INDEX CONCURRENTLY IF NOT EXISTS " + table.own(suffix)
                + " ON " + table.quoted() + " " + body);
        return statements;
    }

    List<String> dropIfInvalid(String suffix) {
        Index found = table.indexes().get(table.name().name() + suffix);
        return found != null && !found.valid() ? List.of(dropIndex(suffix)) : List.of();
    }

    String dropIndex(String suffix) {
        return "DROP INDEX CONCURRENTLY IF EXISTS " + table.relation(suffix);
    }

    /** Makes the index of this name the primary key, unless it is one already. */
    String primaryKey(String suffix) {
        return Block.of("""
                BEGIN
                    IF to_regclass(%s) IS NOT NULL THEN
                        ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;
                        ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s;
                    END IF;
                END""".formatted(
                Literal.text(table.relation(suffix)),
                table.quoted(),
                Quoted.postgres(table.primaryKey() == null ? table.name().name() + "_pkey" : table.primaryKey()),
                table.quoted(),
                table.own("_pkey"),
                table.own(suffix)));
    }

    /** The names, as an array, of the columns that will be gone in the end. */
    String going() {
        List<String> going = new ArrayList<>(table.oldColumns());
        table.interims().forEach(column -> going.add(table.now(column)));
        return "ARRAY[" + String.join(", ", going.stream().map(Literal::text).toList()) + "]::name[]";
    }

    /** Whether a foreign key names one of them. */
    String isReferenced() {
        return ("EXISTS (SELECT FROM pg_constraint f JOIN pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = ANY (f.confkey)"
                        + " WHERE f.contype = 'f' AND f.confrelid = %s AND a.attname = ANY (%s))")
                .formatted(regclass(), going());
    }

    String hasCanonicalChecks() {
        return "EXISTS (SELECT FROM pg_constraint WHERE conrelid = " + regclass() + " AND conname IN ("
                + String.join(
                        ", ",
                        table.canonical().checks().stream()
                                .map(check -> Literal.text(table.name().name() + check.suffix()))
                                .toList())
                + "))";
    }

    String comment(String column, String text) {
        return "COMMENT ON COLUMN " + table.quoted() + "." + Quoted.postgres(column) + " IS "
                + (text.isEmpty() ? "NULL" : Literal.text(text));
    }

    /** Puts the phase into the table's comment, beside whatever else it says, and when unless it says so already. */
    String mark(Phase phase) {
        String line = Literal.text(line(phase));
        String comment = switch (phase) {
            case LEGACY -> unmarked();
            case CLEAN -> "concat_ws(E'\\n', " + unmarked() + ", " + line + ")";
            default -> marked(line);
        };
        return commentIf("NOT (" + (phase == Phase.LEGACY ? isUnmarked() : says(phase)) + ")", comment);
    }

    /** Says phase 0, and since when, so that every node stops naming new columns before they go. */
    String markLeaving() {
        return commentIf(says(Phase.ADDITIVE), marked(Literal.text(line(Phase.LEGACY))));
    }

    private String marked(String line) {
        return "concat_ws(E'\\n', " + unmarked() + ", " + line
                + " || ' since ' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'))";
    }

    private String unmarked() {
        return "NULLIF(regexp_replace(" + description() + ", '(^|\\n)" + marker() + "[^\\n]*', '', 'g'), '')";
    }

    private String commentIf(String condition, String comment) {
        return Block.of("""
                BEGIN
                    IF %s THEN
                        EXECUTE format('COMMENT ON TABLE %s IS %%L', %s);
                    END IF;
                END""".formatted(condition, Block.escaped(table.quoted()), comment));
    }

    /** Whether the comment says this phase; what says nothing is in phase 0. */
    String says(Phase phase) {
        String said = description() + " ~ '(^|\\n)" + marker() + phase.mark() + "( since [^\\n]*)?(\\n|$)'";
        return phase == Phase.LEGACY ? "(" + said + " OR " + isUnmarked() + ")" : said;
    }

    private String isUnmarked() {
        return description() + " !~ '(^|\\n)" + marker() + "'";
    }

    private String description() {
        return "COALESCE(obj_description(" + regclass() + ", 'pg_class'), '')";
    }

    private String line(Phase phase) {
        return PhaseMarker.line(table.kind(), phase.mark());
    }

    /** What the line begins with, as a regular expression. */
    private String marker() {
        return PhaseMarker.line(table.kind(), "").replace(".", "\\.");
    }

    /** Whether it came to this phase too recently for every node to have noticed. */
    String isYoung(Phase phase) {
        return "COALESCE(substring(" + description() + " FROM '" + marker() + phase.mark()
                + " since ([^\\n]*)')::timestamptz > clock_timestamp() - interval '" + seconds(noticed()) + "', false)";
    }

    /** How long it takes until every node has noticed a phase. */
    Duration noticed() {
        return options.noticed();
    }

    /** The sequence in which the trigger notes, in seconds, when an application last wrote old columns only. */
    String oldWrites() {
        return table.relation("_old_writes");
    }

    /** Whether an application has recently written old columns only. */
    String isWrittenLately() {
        return "COALESCE(pg_sequence_last_value(to_regclass(" + Literal.text(oldWrites())
                + ")) > extract(epoch FROM clock_timestamp() - interval '" + seconds(options.quietFor()) + "'), false)";
    }

    /** Whether this schema has the table of pollers. */
    String hasPollers() {
        return "to_regclass(" + Literal.text(pollers()) + ") IS NOT NULL";
    }

    /** The pollers of the table that are alive and have not noticed a phase, for a FROM clause. */
    String pollersBefore(Phase phase) {
        return "%s WHERE table_name = %s AND phase < %s AND seen_on > clock_timestamp() - interval '90 seconds'"
                .formatted(pollers(), Literal.text(table.name().toString()), Literal.text(phase.mark()));
    }

    private String pollers() {
        return Quoted.postgres(new TableName(table.name().schema(), "outbox_pollers"));
    }

    String regclass() {
        return Literal.text(table.quoted()) + "::regclass";
    }

    String now(String canonical) {
        return Quoted.postgres(table.now(canonical));
    }

    static boolean names(String text, List<String> columns) {
        return columns.stream().anyMatch(column -> text.matches("(?s).*\\b" + column + "\\b.*"));
    }

    static String seconds(Duration length) {
        return String.format(Locale.ROOT, "%d.%03d seconds", length.toSeconds(), length.toMillisPart());
    }

    /**
     * For the search for expired leases and for purge, which go by the old columns of an outbox until phase 2 and find no
     * index of its own there. An old inbox has both.
     */
    List<String> oldIndexes() {
        if (table.kind() == TableKind.INBOX) {
            return List.of();
        }
        String status = Quoted.postgres(table.oldest("status"));
        String done = table.processed() == null ? status + " = 2" : Quoted.postgres(table.processed());
        List<String> indexes = new ArrayList<>();
        indexes.addAll(index("_leased_old", false, "(" + status + ") WHERE " + status + " = 1"));
        indexes.addAll(
                index("_done_old", false, "(" + Quoted.postgres(table.oldest("processed_on")) + ") WHERE " + done));
        return indexes;
    }

    String sequence() {
        return table.relation("_sequence_seq");
    }

    String canonicalKey() {
        return "("
                + String.join(
                        ", ",
                        table.canonical().primaryKey().stream().map(this::now).toList()) + ")";
    }

    Step awaitNoticed(Phase phase) {
        return Step.alone(List.of(Block.of("""
                BEGIN
                    WHILE %s LOOP
                        COMMIT;
                        PERFORM pg_sleep(0.2);
                    END LOOP;
                END""".formatted(isYoung(phase)))));
    }
}
