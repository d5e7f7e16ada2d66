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
                .filter(column -> phase != Phase.LEGACY || !AddedColumns.have(column.name(), inbox))
                .collect(Collectors.partitioningBy(
                        Column::computed, Collectors.toMap(Column::name, Function.identity())));
        this.stored = all.getOrDefault(false, Map.of());
        this.computed = all.getOrDefault(true, Map.of());
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
        if (byOld) {
            String item =
                    inbox ? told("message_id").map(SqlServerColumns::quoted).orElseThrow() : quoted("work_item_id");
            read.put("place", Reading.column(item));
            read.put("claim_order", with("%s", inbox ? "last_seen_on" : "created_on"));
            read.put("no_row", new Reading("%s = " + (inbox ? "''" : NO_ID), item));
        } else {
            read.put("place", with("%s", "sequence"));
            read.put("claim_order", with("%s", "sequence"));
            read.put("no_row", with("%s = 0", "sequence"));
        }
        putMessageId();
        // Rows that are not backfilled say nothing of it.
        read.put("blocks_nothing", with(phase == Phase.ADDITIVE ? "(%s = 0 OR %s IS NULL)" : "%s = 0", "blocks_key"));
        read.put("has_topic", with("%s IS NOT NULL", "topic"));
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
        fix("as_message_id", uuid.isEmpty() ? "c.message_id" : isTold ? "LOWER(c.message_id)" : EITHER_ID);
        fix(
                "out_old_message_id",
                uuid.filter(column -> !isTold)
                        .map(column -> "inserted." + quoted(column))
                        .orElse(absent("message_id")));
    }

    /** Predicates that an index serves, whatever the type of the status. */
    private void putStatuses(boolean byOld) {
        Optional<Column> processed = byOld && !inbox ? like(stored, LegacyNames.IS_PROCESSED) : Optional.empty();
        fix(
                "unprocessed",
                processed.map(column -> " AND " + quoted(column) + " = 0").orElse(""));
        read.put("ready", status(0));
        read.put("processing", status(1));
        read.put(
                "done",
                processed.map(column -> new Reading("%s = 1", quoted(column))).orElse(status(2)));
        read.put("dead", status(3));
    }

    private Reading status(int code) {
        Column status = told("status").orElseThrow();
        String value = isText(status) ? "'" + LegacyNames.STATUSES.get(code) + "'" : String.valueOf(code);
        return new Reading("%s = " + value, quoted(status));
    }

    /** Until the flip all rows are one consumer's, and a row is named by its message id. */
    private void putInbox(boolean byOld) {
        read.put("mine", byOld ? Reading.fixed("1 = 1") : with("%s = :consumer", "consumer"));
        if (phase == Phase.CLEAN) {
            SqlServerIdentity.exact(quoted("exact_source"), quoted("exact_message_id"))
                    .forEach(this::fix);
            return;
        }
        Column key = old("message_id").orElseThrow();
        Column source = old("source").orElseThrow();
        SqlServerIdentity.Forgetting forgetting =
                SqlServerIdentity.forgetting(table, status(0).text(), status(1).text(), quoted("topic"));
        SqlServerIdentity.byMessageId(key, source, byOld ? forgetting : null).forEach(this::fix);
        read.put("exact_source", SqlServerIdentity.exact(source));
        read.put("exact_message_id", SqlServerIdentity.exact(key));
        if (byOld) {
            read.put("work_item_id", Reading.column(quoted(key)));
            fix("out_work_item_id", "inserted." + quoted(key));
            read.put("created_on", with("%s", "first_seen_on"));
            fix("out_created_on", "inserted." + quoted("first_seen_on"));
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

    private void fix(String logical, String text) {
        read.put(logical, Reading.fixed(text));
    }

    /** An expression over one column, or over what is read where there is none. */
    private Reading with(String expression, String logical) {
        return found(logical)
                .map(column -> new Reading(expression, quoted(column)))
                .orElseGet(() -> Reading.fixed(expression.replace("%s", quoted(logical))));
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
        fix("out_" + logical, told.map(column -> "inserted." + quoted(column)).orElseGet(() -> absent(logical)));
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
                    "CASE %%s WHEN '%s' THEN 0 WHEN '%s' THEN 1 WHEN '%s' THEN 2 WHEN '%s' THEN 3 END"
                            .formatted(LegacyNames.STATUSES.toArray()),
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
            return "CASE (%%s) WHEN 0 THEN '%s' WHEN 1 THEN '%s' WHEN 2 THEN '%s' ELSE '%s' END"
                    .formatted(LegacyNames.STATUSES.toArray());
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
