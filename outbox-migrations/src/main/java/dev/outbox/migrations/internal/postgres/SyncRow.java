package dev.outbox.migrations.internal.postgres;

import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What the sync triggers say of the row that is written: its columns before and after, and conditions on them. */
final class SyncRow {
    private static final Set<String> FIXED = Set.of(
            "work_item_id",
            "message_id",
            "source",
            "hash",
            "topic",
            "payload",
            "correlation_id",
            "created_on",
            "first_seen_on");

    private final LegacyTable table;
    private final @Nullable String consumer;

    /** @param consumer whose the rows of a legacy inbox are */
    SyncRow(LegacyTable table, @Nullable String consumer) {
        this.table = table;
        this.consumer = consumer;
    }

    LegacyTable table() {
        return table;
    }

    /**
     * Columns that hardly ever change have a trigger of their own, which fires only for a statement that names one of them:
     * claims and settles do not, and payloads are long.
     */
    static boolean isFixed(Pair pair) {
        return FIXED.contains(pair.column().name());
    }

    List<Pair> pairs(boolean fixed) {
        return table.pairs().stream().filter(pair -> isFixed(pair) == fixed).toList();
    }

    /** Notes in the row that an old application wrote it. */
    static String stamp() {
        return "    NEW." + LegacyNames.LEGACY_WRITE + " := statement_timestamp();\n";
    }

    /**
     * Whether an update that changes only columns which both sides share must be an old application's. A claim of ours also
     * counts the attempt, a dead letter of ours also has a time, and a row without a key is given back with a new due time.
     */
    String byOldOnly() {
        if (table.pair("status") != null) {
            return "false";
        }
        String from = before(table.now("status"));
        String to = now("status");
        return "(%1$s = 0 AND %2$s = 1 AND %3$s OR %1$s = 1 AND %2$s = 3 AND %4$s OR %1$s = 1 AND %2$s = 0 AND %5$s AND %6$s IS NULL)"
                .formatted(
                        from,
                        to,
                        unchanged("attempt_count"),
                        unchanged("processed_on"),
                        unchanged("due_on"),
                        now("message_key"));
    }

    String unchanged(String canonical) {
        return now(canonical) + " IS NOT DISTINCT FROM " + before(table.now(canonical));
    }

    /** Whether the sides do not say the same, or one of the other conditions is not true. */
    String disagreement(List<Pair> pairs, List<String> others) {
        List<String> conditions = new ArrayList<>();
        for (Pair pair : pairs) {
            conditions.add(pair.agrees(old(pair), now(pair), item()));
        }
        conditions.addAll(others);
        return conditions.isEmpty() ? "false" : "(" + String.join("\n        AND ", conditions) + ") IS NOT TRUE";
    }

    /** What is true of a row that lacks nothing and does not contradict itself. */
    List<String> complete() {
        List<String> conditions = new ArrayList<>();
        if (table.processed() != null) {
            conditions.add("(" + processed() + " = (" + now("status") + " = 2) OR " + now("status") + " = 3)");
        }
        for (Canonical.Column column : table.canonical().columns()) {
            if (column.notNull() && !column.name().equals(Canonical.SEQUENCE)) {
                conditions.add(now(column.name()) + " IS NOT NULL");
            }
        }
        return conditions;
    }

    List<String> processedFollows() {
        return table.processed() == null ? List.of() : List.of(processed() + " = (" + now("status") + " = 2)");
    }

    /** The status of a row whose old columns may contradict each other: a processed row is Done. */
    String done(String status) {
        return "CASE WHEN " + processed() + " AND " + status + " < 2 THEN 2 ELSE " + status + " END";
    }

    /** @param mayDiffer when IsProcessed of a Dead row is left as its writer set it */
    String oldStatus(String mayDiffer) {
        Pair pair = table.pair("status");
        String now = now("status");
        String dead = mayDiffer.isEmpty() ? now + " = 3" : now + " = 3 AND " + mayDiffer;
        return (pair == null ? "" : "    %s := %s;\n".formatted(old(pair), toOld(pair)))
                + "    %1$s := CASE WHEN %2$s THEN %1$s ELSE %3$s = 2 END;\n".formatted(processed(), dead, now);
    }

    /** An old application may set a row to Done without a time; purge needs one. */
    String stampDone() {
        Pair pair = table.pair("processed_on");
        String now = now("processed_on");
        return "    IF %1$s = 2 AND %2$s IS NULL THEN %2$s := statement_timestamp();%3$s END IF;\n"
                .formatted(now("status"), now, pair == null ? "" : " %s := %s;".formatted(old(pair), toOld(pair)));
    }

    /** Fills the columns that have no old column. */
    String fills() {
        StringBuilder text = new StringBuilder();
        for (Canonical.Column column : table.canonical().columns()) {
            String fill = Fills.of(table, consumer, column.name(), this::now);
            if (fill != null && table.pair(column.name()) == null) {
                text.append("    IF %1$s IS NULL THEN %1$s := %2$s; END IF;\n".formatted(now(column.name()), fill));
            }
        }
        return text.toString();
    }

    boolean isDoubled(Pair pair) {
        return pair.isStatus() && table.processed() != null;
    }

    String item() {
        return now("work_item_id");
    }

    String now(String canonical) {
        return "NEW." + Quoted.postgres(table.now(canonical));
    }

    static String now(Pair pair) {
        return "NEW." + Quoted.postgres(pair.now());
    }

    static String old(Pair pair) {
        return "NEW." + Quoted.postgres(pair.old());
    }

    static String before(String column) {
        return "OLD." + Quoted.postgres(column);
    }

    String processed() {
        return "NEW." + Quoted.postgres(String.valueOf(table.processed()));
    }

    String beforeProcessed() {
        return before(String.valueOf(table.processed()));
    }

    String toOld(Pair pair) {
        return pair.toOld(now(pair), item());
    }

    static String indent(String text) {
        return text.lines().map(line -> "    " + line + "\n").collect(Collectors.joining());
    }
}
