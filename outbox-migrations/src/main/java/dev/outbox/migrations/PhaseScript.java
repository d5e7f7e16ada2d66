package dev.outbox.migrations;

import dev.outbox.migrations.Canonical.Column;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;

/** Writes what takes a table from one phase to the next, for the columns that were found in it. */
final class PhaseScript {
    private final LegacyTable table;
    private final Upgrade.Options options;
    private final SyncTrigger trigger;

    PhaseScript(LegacyTable table, @Nullable String consumer, Upgrade.Options options) {
        this.table = table;
        this.options = options;
        this.trigger = new SyncTrigger(table, consumer);
    }

    List<Step> to(Phase phase) {
        return switch (phase) {
            case LEGACY -> throw new IllegalArgumentException("no script leads to phase 0; use back(...)");
            case ADDITIVE -> additive();
            case DUAL -> dual();
            case FLIPPED -> flip();
            case SETTLING, CLEAN -> throw new UnsupportedOperationException("not yet");
        };
    }

    /** The new columns, the sequence that numbers new rows, and the trigger: all in one short transaction. */
    private List<Step> additive() {
        List<String> adds = new ArrayList<>();
        adds.add("ADD COLUMN IF NOT EXISTS " + LegacyTable.LEGACY_WRITE + " timestamptz");
        for (Column column : table.kind().canonical.columns()) {
            adds.add("ADD COLUMN IF NOT EXISTS " + Quoted.name(table.now(column.name())) + " " + column.definition());
        }
        List<String> change = new ArrayList<>();
        change.add(isIn(Phase.LEGACY, Phase.ADDITIVE));
        change.add("ALTER TABLE " + table.quoted() + "\n    " + String.join(",\n    ", adds));
        change.addAll(trigger.bothWays());
        change.add("ALTER TABLE " + table.quoted() + " ALTER COLUMN sequence SET DEFAULT nextval("
                + Quoted.text(sequence()) + ")");
        change.add("ALTER SEQUENCE " + sequence() + " OWNED BY " + table.quoted() + ".sequence");
        change.add(mark(Phase.ADDITIVE));
        return List.of(
                // Numbers below the start are for the rows that are there, and for those that come until the trigger
                // does.
                Step.together(List.of("""
                        DO $$
                        BEGIN
                            IF to_regclass(%s) IS NULL THEN
                                EXECUTE format('CREATE SEQUENCE %s START %%s CACHE 1',
                                    (SELECT 2 * count(*) + 1000000 FROM %s));
                            END IF;
                        END $$""".formatted(Quoted.text(sequence()), sequence(), table.quoted()))),
                Step.together(change));
    }

    /** The indexes, now that the backfill need not maintain them, and then the claims by them. */
    private List<Step> dual() {
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                isIn(Phase.ADDITIVE, Phase.DUAL),
                refuseIf(
                        "EXISTS (SELECT FROM " + table.quoted() + " WHERE sequence IS NULL)",
                        "it has rows that are not backfilled; run the backfill first"))));
        steps.add(Step.alone(indexes()));
        steps.add(Step.alone(List.of("ANALYZE " + table.quoted())));
        steps.add(Step.together(List.of(invalidIndexes(), mark(Phase.DUAL))));
        return steps;
    }

    private List<Step> flip() {
        List<Step> steps = new ArrayList<>();
        steps.add(Step.together(List.of(
                isIn(Phase.DUAL, Phase.FLIPPED),
                invalidIndexes(),
                age(Phase.DUAL),
                refuseIf(
                        "EXISTS (SELECT FROM " + table.quoted() + " WHERE " + LegacyTable.LEGACY_WRITE
                                + " > statement_timestamp() - interval '" + seconds(options.quietFor()) + "')",
                        "somebody wrote only its old columns within the last " + options.quietFor()
                                + "; stop the last old application first"))));
        if (table.kind() == Kind.INBOX) {
            // Arrived and not processed, and no topic to handle it by: its next arrival is the first.
            steps.add(Step.alone(
                    List.of("DELETE FROM " + table.quoted() + " WHERE topic IS NULL AND " + now("status") + " < 2")));
        }
        List<String> checks = new ArrayList<>(List.of(check(
                "_complete",
                String.join(
                        " AND ",
                        notNull().stream()
                                .map(column -> column + " IS NOT NULL")
                                .toList()))));
        List<String> validations = new ArrayList<>(List.of(validate("_complete")));
        for (Canonical.Check check : table.kind().canonical.checks()) {
            checks.add(check(check.suffix(), physical(check.condition())));
            validations.add(validate(check.suffix()));
        }
        steps.add(Step.together(checks));
        steps.add(Step.alone(validations));
        List<String> change = new ArrayList<>();
        change.add(alter(columnDefaults()));
        change.add(alter(notNull().stream()
                .map(column -> "ALTER COLUMN " + column + " SET NOT NULL")
                .toList()));
        change.add("ALTER TABLE " + table.quoted() + " DROP CONSTRAINT IF EXISTS " + table.own("_complete"));
        change.addAll(nullableOld());
        if (table.kind() == Kind.INBOX) {
            change.add(swapPrimaryKey());
        }
        change.addAll(trigger.onward());
        for (Pair pair : table.pairs()) {
            change.add(deprecate(pair.old(), pair.now()));
        }
        if (table.processed() != null) {
            change.add(deprecate(table.processed(), table.now("status")));
        }
        change.add(mark(Phase.FLIPPED));
        steps.add(Step.together(change));
        return steps;
    }

    private List<String> indexes() {
        List<String> statements = new ArrayList<>();
        String key = String.join(
                ", ",
                table.kind().canonical.primaryKey().stream().map(this::now).toList());
        if (!keyIsCanonical()) {
            statements.addAll(index("_pkey_new", true, "(" + key + ")"));
        }
        for (Canonical.Index index : table.kind().canonical.indexes()) {
            statements.addAll(index(index.suffix(), index.unique(), physical(index.body())));
        }
        return statements;
    }

    /** Whether the primary key is the canonical one already. */
    private boolean keyIsCanonical() {
        List<String> found = table.columns().values().stream()
                .filter(LegacyTable.Found::keyed)
                .map(LegacyTable.Found::name)
                .sorted()
                .toList();
        return found.equals(table.kind().canonical.primaryKey().stream()
                .map(table::now)
                .sorted()
                .toList());
    }

    /** An index that a build left invalid serves nobody, and IF NOT EXISTS would be content with it. */
    private List<String> index(String suffix, boolean unique, String body) {
        List<String> statements = new ArrayList<>();
        if (table.invalidIndexes().contains(table.name().name() + suffix)) {
            statements.add("DROP INDEX CONCURRENTLY IF EXISTS " + table.relation(suffix));
        }
        statements.add("CREATE " + (unique ? "UNIQUE " : "") + "INDEX CONCURRENTLY IF NOT EXISTS " + table.own(suffix)
                + " ON " + table.quoted() + " " + body);
        return statements;
    }

    private String swapPrimaryKey() {
        return """
                DO $$
                BEGIN
                    IF to_regclass(%s) IS NOT NULL THEN
                        ALTER TABLE %s DROP CONSTRAINT IF EXISTS %s;
                        ALTER TABLE %s ADD CONSTRAINT %s PRIMARY KEY USING INDEX %s;
                    END IF;
                END $$""".formatted(
                        Quoted.text(table.relation("_pkey_new")),
                        table.quoted(),
                        Quoted.name(table.primaryKey() == null ? table.name().name() + "_pkey" : table.primaryKey()),
                        table.quoted(),
                        table.own("_pkey"),
                        table.own("_pkey_new"));
    }

    private List<String> columnDefaults() {
        List<String> defaults = new ArrayList<>();
        for (Column column : table.kind().canonical.columns()) {
            if (!column.name().equals(Canonical.SEQUENCE)) {
                defaults.add("ALTER COLUMN " + now(column.name())
                        + (column.fallback() == null ? " DROP DEFAULT" : " SET DEFAULT " + column.fallback()));
            }
        }
        return defaults;
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
        return changes.isEmpty() ? List.of() : List.of(alter(changes));
    }

    private List<String> notNull() {
        return table.kind().canonical.columns().stream()
                .filter(Column::notNull)
                .map(column -> now(column.name()))
                .toList();
    }

    private String alter(List<String> changes) {
        return "ALTER TABLE " + table.quoted() + "\n    " + String.join(",\n    ", changes);
    }

    private String check(String suffix, String condition) {
        return "ALTER TABLE " + table.quoted() + " DROP CONSTRAINT IF EXISTS " + table.own(suffix) + ", ADD CONSTRAINT "
                + table.own(suffix) + " CHECK (" + condition + ") NOT VALID";
    }

    private String validate(String suffix) {
        return "ALTER TABLE " + table.quoted() + " VALIDATE CONSTRAINT " + table.own(suffix);
    }

    private String deprecate(String old, String now) {
        return "COMMENT ON COLUMN " + table.quoted() + "." + Quoted.name(old) + " IS 'Deprecated: read " + now
                + "; dropped in phase 4'";
    }

    /** Puts the phase into the table's comment, beside whatever else it says, and when unless it says so already. */
    String mark(Phase phase) {
        String line = "(^|\\n)" + table.kind().marker.replace(".", "\\.");
        String kept = "regexp_replace(COALESCE(obj_description(" + regclass() + ", 'pg_class'), ''), '" + line
                + "[^\\n]*', '', 'g')";
        String since = phase == Phase.CLEAN
                ? ""
                : " || ' since ' || to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')";
        return """
                DO $$
                BEGIN
                    IF NOT %s THEN
                        EXECUTE format('COMMENT ON TABLE %s IS %%L', concat_ws(E'\\n', NULLIF(%s, ''),
                            '%s'%s));
                    END IF;
                END $$""".formatted(says(phase), table.quoted(), kept, table.kind().marker + phase.mark(), since);
    }

    /** Whether the comment says this phase. */
    private String says(Phase phase) {
        return "COALESCE(obj_description(" + regclass() + ", 'pg_class'), '') ~ '(^|\\n)"
                + table.kind().marker.replace(".", "\\.") + phase.mark() + "( since [^\\n]*)?(\\n|$)'";
    }

    private String isIn(Phase from, Phase to) {
        String in = says(from) + " OR " + says(to);
        if (from == Phase.LEGACY) {
            in = "COALESCE(obj_description(" + regclass() + ", 'pg_class'), '') !~ '(^|\\n)"
                    + table.kind().marker.replace(".", "\\.") + "' OR " + says(to);
        }
        return refuseIf("NOT (" + in + ")", "it must be in " + from + " to go to " + to);
    }

    private String age(Phase phase) {
        return refuseIf(
                says(phase) + " AND substring(obj_description(" + regclass() + ", 'pg_class') FROM '"
                        + table.kind().marker.replace(".", "\\.") + phase.mark() + " since ([^\\n]*)')::timestamptz"
                        + " > clock_timestamp() - interval '"
                        + seconds(options.refreshInterval().multipliedBy(2)) + "'",
                "it came to " + phase + " less than "
                        + options.refreshInterval().multipliedBy(2)
                        + " ago, and not every node may have noticed; wait");
    }

    private String invalidIndexes() {
        return refuseIf(
                "EXISTS (SELECT FROM pg_index WHERE indrelid = " + regclass() + " AND NOT indisvalid)",
                "it has an index that a failed build left invalid; drop it and run phase 2 again");
    }

    private String refuseIf(String condition, String reason) {
        return """
                DO $$
                BEGIN
                    IF %s THEN
                        RAISE EXCEPTION 'table %s: %s' USING ERRCODE = 'object_not_in_prerequisite_state';
                    END IF;
                END $$""".formatted(condition, table.name(), reason);
    }

    private String regclass() {
        return Quoted.text(table.quoted()) + "::regclass";
    }

    private String sequence() {
        return table.relation("_sequence_seq");
    }

    private String now(String canonical) {
        return Quoted.name(table.now(canonical));
    }

    /** A text of the canonical script, with the names that its columns have now. */
    private String physical(String text) {
        String result = text;
        for (String column : table.interims()) {
            result = result.replaceAll("\\b" + column + "\\b", Matcher.quoteReplacement(now(column)));
        }
        return result;
    }

    private static String seconds(Duration length) {
        return String.format(Locale.ROOT, "%d.%03d seconds", length.toSeconds(), length.toMillisPart());
    }
}
