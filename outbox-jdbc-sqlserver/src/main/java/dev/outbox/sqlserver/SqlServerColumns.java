package dev.outbox.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.layout.Target;
import dev.outbox.sqlserver.SqlServerTable.Limit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The column mapper: what stands for each logical column of a table in a phase, to be read and to be written.
 *
 * <p>A column that only changes its name is stored once, in phases 0 to 2 under the old name and from 3 on under the new
 * one; the other name is a computed alias, which nobody can write and we do not read. So most of a layout is told by
 * which columns are stored, whatever the phase. What changes its type, the message id and in an inbox the source and the
 * status, has a column of each from phase 1 to 3, and both are written. The old one is read until the flip, for whoever
 * else writes the table writes it.
 */
final class SqlServerColumns {
    /** How texts are compared: as they are. */
    private static final String BINARY = "Latin1_General_100_BIN2";

    /** What is read where there is no column yet; else null. */
    private static final Map<String, String> ABSENT = Map.of(
            "sequence", "CAST(0 AS bigint)",
            "priority", "CAST(1 AS smallint)",
            "blocks_key", "CAST(0 AS bit)",
            "receipt_count", "1",
            "headers", "CAST(NULL AS nvarchar(max))",
            "payload_bytes", "CAST(NULL AS varbinary(max))");

    /** What phase 1 adds. */
    private static final List<String> ADDED = List.of(
            "sequence",
            "priority",
            "blocks_key",
            "first_due_on",
            "message_key",
            LegacyNames.interim("message_id"),
            "tenant_id",
            "content_type",
            "headers",
            "payload_bytes",
            "exact_key",
            LegacyNames.LIBRARY_TOKEN);

    /** And this to an inbox. */
    private static final List<String> ADDED_TO_INBOX = List.of(
            "work_item_id",
            "created_on",
            "consumer",
            "receipt_count",
            "correlation_id",
            "processed_by",
            LegacyNames.interim("source"),
            LegacyNames.interim("status"));

    /** A status as an old inbox tells it, at the place of its code. */
    private static final List<String> STATUSES = List.of("Seen", "Processing", "Done", "Dead");

    private static final String NO_ID = "CAST(0x00000000000000000000000000000000 AS uniqueidentifier)";

    private static final String EITHER_ID = "COALESCE(c.message_id, LOWER(c.old_message_id))";

    /** Only for people to read, and how long it may be: cut off where the old column is shorter. */
    private static final Map<String, Integer> FOR_PEOPLE = Map.of("processed_by", 255, "last_error", 2_000);

    private final String table;
    private final Phase phase;
    private final boolean inbox;
    private final LegacyNames legacy;
    private final Map<String, Column> stored;
    private final Map<String, Column> computed;
    private final Map<String, Reading> read = new HashMap<>();
    private final Map<String, List<Target>> written = new HashMap<>();

    SqlServerColumns(String table, Collection<Column> columns, Phase phase, boolean inbox) {
        this.table = table;
        this.phase = phase;
        this.inbox = inbox;
        this.legacy = inbox ? LegacyNames.INBOX : LegacyNames.OUTBOX;
        Map<Boolean, Map<String, Column>> all = columns.stream()
                .filter(column -> phase != Phase.LEGACY || !isAdded(column.name()))
                .collect(Collectors.partitioningBy(
                        Column::computed, Collectors.toMap(Column::name, Function.identity())));
        this.stored = all.getOrDefault(false, Map.of());
        this.computed = all.getOrDefault(true, Map.of());
    }

    /** Whether phase 1 adds it: before that, or while it is being taken back, it is none of ours. */
    private boolean isAdded(String column) {
        ColumnNames name = new ColumnNames("", List.of(column));
        return name.like(ADDED, null).isPresent()
                || (inbox && name.like(ADDED_TO_INBOX, null).isPresent());
    }

    /** Whether claims go by the old columns, in the order of time; an inbox has its status in text until the flip. */
    static boolean byOld(Phase phase, boolean inbox) {
        return phase.before(inbox ? Phase.FLIPPED : Phase.DUAL);
    }

    /** What a legacy table must have and this one has not. */
    List<String> missing() {
        return legacy.known().stream()
                .map(legacy::of)
                .filter(old -> like(stored, old).isEmpty())
                .map(old -> old.get(0))
                .sorted()
                .toList();
    }

    /** Which of these logical columns no column stands for; what compares exactly comes last of all. */
    List<String> missing(Collection<String> logical) {
        return logical.stream()
                .filter(column -> phase == Phase.CLEAN || !SqlServerIdentity.EXACT.contains(column))
                .filter(column -> found(column).isEmpty())
                .toList();
    }

    /** @param logical all columns of the canonical table */
    Map<String, Reading> layout(Collection<String> logical) {
        logical.forEach(this::map);
        boolean byOld = byOld(phase, inbox);
        if (found("sequence").isEmpty()) {
            // No constants, which ORDER BY and GROUP BY refuse.
            read.put("sequence", Reading.of("CAST(0 * %s AS bigint)", quoted("attempt_count")));
            read.put("exact_key", Reading.of("NULLIF(%s, %s) COLLATE " + BINARY, quoted("topic")));
        }
        if (inbox) {
            putInbox(byOld);
        }
        if (phase == Phase.LEGACY) {
            // Retries change the due time, and nothing keeps the first one.
            copy("created_on", "first_due_on");
            copy("out_created_on", "out_first_due_on");
        }
        read.putAll(SqlServerItems.named(inbox && byOld ? told("message_id") : Optional.empty()));
        String item = inbox && byOld
                ? told("message_id").map(SqlServerColumns::quoted).orElseThrow()
                : quoted("work_item_id");
        put("place", byOld ? item : quoted("sequence"));
        put("claim_order", byOld ? quoted(inbox ? "last_seen_on" : "created_on") : quoted("sequence"));
        put("no_row", byOld ? item + " = " + (inbox ? "''" : NO_ID) : quoted("sequence") + " = 0");
        putMessageId();
        // Rows that are not backfilled say nothing of it.
        read.put(
                "blocks_nothing",
                phase == Phase.ADDITIVE
                        ? Reading.of("%s = 0 OR %s IS NULL", quoted("blocks_key"))
                        : Reading.column(quoted("blocks_key") + " = 0"));
        put("has_topic", quoted("topic") + " IS NOT NULL");
        putStatuses(byOld);
        return read;
    }

    /**
     * An old application writes the old one, and before phase 3 it can hold every id. Who stores a message while the flip is
     * on its way may have written no other.
     */
    private void putMessageId() {
        Optional<Column> uuid = old("message_id").filter(column -> !isText(column));
        boolean isTold = told("message_id").equals(uuid);
        put("as_message_id", uuid.isEmpty() ? "c.message_id" : isTold ? "LOWER(c.message_id)" : EITHER_ID);
        put(
                "out_old_message_id",
                uuid.filter(column -> !isTold)
                        .map(column -> "inserted." + quoted(column))
                        .orElse(absent("message_id")));
    }

    /** Predicates that an index serves, whatever the type of the status. */
    private void putStatuses(boolean byOld) {
        Optional<Column> processed = byOld && !inbox ? like(stored, LegacyNames.IS_PROCESSED) : Optional.empty();
        put(
                "unprocessed",
                processed.map(column -> " AND " + quoted(column) + " = 0").orElse(""));
        put("ready", status(0));
        put("processing", status(1));
        put("done", processed.map(column -> quoted(column) + " = 1").orElse(status(2)));
        put("dead", status(3));
    }

    private String status(int code) {
        Column status = told("status").orElseThrow();
        return quoted(status) + " = " + (isText(status) ? "'" + STATUSES.get(code) + "'" : String.valueOf(code));
    }

    /** Until the flip all rows are one consumer's, and a row is named by its message id. */
    private void putInbox(boolean byOld) {
        put("mine", byOld ? "1 = 1" : quoted("consumer") + " = :consumer");
        if (phase == Phase.CLEAN) {
            fix(SqlServerIdentity.exact(quoted("exact_source"), quoted("exact_message_id")));
            return;
        }
        Column key = old("message_id").orElseThrow();
        Column source = old("source").orElseThrow();
        fix(SqlServerIdentity.byMessageId(
                key,
                source,
                byOld ? SqlServerIdentity.forgetting(table, status(0), status(1), quoted("topic")) : null));
        read.put("exact_source", SqlServerIdentity.exact(source));
        read.put("exact_message_id", SqlServerIdentity.exact(key));
        if (byOld) {
            put("work_item_id", quoted(key));
            put("out_work_item_id", "inserted." + quoted(key));
            put("created_on", quoted("first_seen_on"));
            put("out_created_on", "inserted." + quoted("first_seen_on"));
        }
    }

    /** Where what is written goes, if not just to the column. */
    Map<String, List<Target>> written() {
        return written;
    }

    /** What the table can hold of what tells messages apart, routes and relates them. */
    Map<String, Limit> limits() {
        Map<String, Limit> limits = new HashMap<>();
        for (String logical : inbox ? List.of("topic", "message_id", "source") : List.of("topic", "correlation_id")) {
            old(logical)
                    .filter(column -> isText(column) && column.characters() != Column.UNLIMITED)
                    .ifPresent(column -> limits.put(
                            logical,
                            new Limit(column.characters(), !column.type().startsWith("n"))));
        }
        return limits;
    }

    private void fix(Map<String, String> texts) {
        texts.forEach(this::put);
    }

    /** @param text a column, or a condition that begins with one; in parentheses what names no column */
    private void put(String logical, String text) {
        read.put(logical, text.startsWith("(") ? Reading.fixed(text) : Reading.column(text));
    }

    private void copy(String from, String to) {
        read.put(to, Objects.requireNonNull(read.get(from)));
    }

    private void map(String logical) {
        Optional<Column> found = found(logical);
        Optional<Column> told = told(logical);
        read.put(
                logical,
                told.map(column -> reading(logical, column))
                        .orElseGet(() -> Reading.fixed("(" + absent(logical) + ")")));
        // OUTPUT names columns as they are, or says what is the same for all.
        put("out_" + logical, told.map(column -> "inserted." + quoted(column)).orElseGet(() -> absent(logical)));
        List<Target> targets = new ArrayList<>();
        found.filter(column -> !column.computed())
                .ifPresent(column -> targets.add(new Target(quoted(column), writing(logical, column))));
        if (hasInterim(logical)) {
            old(logical).ifPresent(column -> targets.add(new Target(quoted(column), writing(logical, column))));
        }
        if (logical.equals("status")) {
            like(stored, LegacyNames.IS_PROCESSED)
                    .ifPresent(
                            column -> targets.add(new Target(quoted(column), "CASE WHEN (%s) = 2 THEN 1 ELSE 0 END")));
        } else if (logical.equals("owner_token")) {
            like(stored, List.of(LegacyNames.LIBRARY_TOKEN))
                    .ifPresent(
                            column -> targets.add(new Target(quoted(column), "COALESCE(%s, " + quoted(column) + ")")));
        }
        boolean asItIs = found.filter(column -> column.computed()
                        || (Reading.column(quoted(column)).equals(read.get(logical))
                                && targets.equals(List.of(new Target(quoted(column))))))
                .isPresent();
        if (!asItIs || phase != Phase.CLEAN) {
            written.put(logical, targets);
        }
    }

    private String absent(String logical) {
        return ABSENT.getOrDefault(logical, "CAST(NULL AS nvarchar(255))");
    }

    private Reading reading(String logical, Column column) {
        if (logical.equals("topic") && !BINARY.equalsIgnoreCase(column.collation())) {
            return Reading.of("%s COLLATE " + BINARY, quoted(column));
        }
        if (logical.equals("status") && isText(column)) {
            return Reading.of(
                    "CASE %s WHEN 'Seen' THEN 0 WHEN 'Processing' THEN 1 WHEN 'Done' THEN 2 WHEN 'Dead' THEN 3 END",
                    quoted(column));
        }
        if (phase == Phase.ADDITIVE && logical.equals("priority")) { // not before phase 2, so all rows have the same
            return Reading.fixed("(" + absent(logical) + ")");
        }
        return phase == Phase.ADDITIVE && logical.equals("receipt_count")
                ? Reading.of("COALESCE(%s, " + absent(logical) + ")", quoted(column))
                : Reading.column(quoted(column));
    }

    private String writing(String logical, Column column) {
        if (logical.equals("message_id") && !isText(column)) {
            return "CAST(%s AS uniqueidentifier)";
        }
        if (logical.equals("status") && isText(column)) {
            return "CASE (%s) WHEN 0 THEN 'Seen' WHEN 1 THEN 'Processing' WHEN 2 THEN 'Done' ELSE 'Dead' END";
        }
        if (logical.equals("first_due_on")
                && column.type().equals("datetime2")
                && hasOffset("due_on", "created_on", "first_seen_on")) {
            return "SWITCHOFFSET(CAST(%s AS datetimeoffset(7)), 0)"; // or its offset would be cut off
        }
        return column.characters() < FOR_PEOPLE.getOrDefault(logical, 0)
                ? "LEFT(%s, " + column.characters() + ")"
                : "%s";
    }

    private boolean hasOffset(String... logical) {
        return Arrays.stream(logical)
                .flatMap(name -> found(name).stream())
                .anyMatch(column -> column.type().equals("datetimeoffset"));
    }

    static String quoted(Column column) {
        return Quoted.sqlServer(column.name());
    }

    private static boolean isText(Column column) {
        return column.type().endsWith("char");
    }

    private String quoted(String logical) {
        return found(logical).map(SqlServerColumns::quoted).orElseGet(() -> "(" + absent(logical) + ")");
    }

    private Optional<Column> found(String logical) {
        if (logical.startsWith("exact_")) {
            return like(computed, List.of(logical));
        }
        return hasInterim(logical) ? like(stored, List.of(LegacyNames.interim(logical))) : old(logical);
    }

    /** What is true of a row, whoever wrote it. */
    private Optional<Column> told(String logical) {
        return phase.before(Phase.FLIPPED) && hasInterim(logical) ? old(logical) : found(logical);
    }

    private boolean hasInterim(String logical) {
        return phase != Phase.CLEAN
                && like(stored, List.of(LegacyNames.interim(logical))).isPresent();
    }

    /** Under its old name, or its canonical one. */
    private Optional<Column> old(String logical) {
        return like(stored, phase == Phase.CLEAN ? List.of(logical) : legacy.of(logical));
    }

    private Optional<Column> like(Map<String, Column> columns, Collection<String> wanted) {
        return new ColumnNames(table, columns.keySet()).like(wanted, null).map(columns::get);
    }
}
