package dev.outbox.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.layout.Writes;
import dev.outbox.jdbc.internal.layout.Writes.Target;
import dev.outbox.sqlserver.SqlServerCatalog.Column;
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
    private final Map<String, String> read = new HashMap<>();
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
    Map<String, String> layout(Collection<String> logical) {
        logical.forEach(this::map);
        boolean byOld = byOld(phase, inbox);
        if (found("sequence").isEmpty()) {
            // No constants, which ORDER BY and GROUP BY refuse.
            read.put("sequence", "(CAST(0 * @" + quoted("attempt_count") + " AS bigint))");
            read.put("exact_key", "(NULLIF(@%1$s, @%1$s) COLLATE %2$s)".formatted(quoted("topic"), BINARY));
        }
        if (inbox) {
            putInbox(byOld);
        }
        if (phase == Phase.LEGACY) {
            // Retries change the due time, and nothing keeps the first one.
            read.put("first_due_on", Objects.requireNonNull(read.get("created_on")));
            read.put("out_first_due_on", Objects.requireNonNull(read.get("out_created_on")));
        }
        read.putAll(SqlServerItems.named(inbox && byOld ? told("message_id") : Optional.empty()));
        String item = inbox && byOld ? told("message_id").map(Column::quoted).orElseThrow() : quoted("work_item_id");
        read.put("place", byOld ? item : quoted("sequence"));
        read.put("claim_order", byOld ? quoted(inbox ? "last_seen_on" : "created_on") : quoted("sequence"));
        read.put("no_row", byOld ? item + " = " + (inbox ? "''" : NO_ID) : quoted("sequence") + " = 0");
        putMessageId();
        // Rows that are not backfilled say nothing of it.
        read.put(
                "blocks_nothing",
                phase == Phase.ADDITIVE
                        ? "(@%1$s = 0 OR @%1$s IS NULL)".formatted(quoted("blocks_key"))
                        : quoted("blocks_key") + " = 0");
        read.put("has_topic", quoted("topic") + " IS NOT NULL");
        putStatuses(byOld);
        return read;
    }

    /**
     * An old application writes the old one, and before phase 3 it can hold every id. Who stores a message while the flip is
     * on its way may have written no other.
     */
    private void putMessageId() {
        Optional<Column> uuid = old("message_id").filter(column -> !column.isText());
        boolean isTold = told("message_id").equals(uuid);
        read.put("as_message_id", uuid.isEmpty() ? "c.message_id" : isTold ? "LOWER(c.message_id)" : EITHER_ID);
        read.put(
                "out_old_message_id",
                uuid.filter(column -> !isTold)
                        .map(column -> "inserted." + column.quoted())
                        .orElse(absent("message_id")));
    }

    /** Predicates that an index serves, whatever the type of the status. */
    private void putStatuses(boolean byOld) {
        Optional<Column> processed = byOld && !inbox ? like(stored, LegacyNames.IS_PROCESSED) : Optional.empty();
        read.put(
                "unprocessed",
                processed.map(column -> " AND " + column.quoted() + " = 0").orElse(""));
        read.put("ready", status(0));
        read.put("processing", status(1));
        read.put("done", processed.map(column -> column.quoted() + " = 1").orElse(status(2)));
        read.put("dead", status(3));
    }

    private String status(int code) {
        Column status = told("status").orElseThrow();
        return status.quoted() + " = "
                + (status.isText() ? "'" + LegacyNames.STATUSES.get(code) + "'" : String.valueOf(code));
    }

    /** Until the flip all rows are one consumer's, and a row is named by its message id. */
    private void putInbox(boolean byOld) {
        read.put("mine", byOld ? "1 = 1" : quoted("consumer") + " = :consumer");
        if (phase == Phase.CLEAN) {
            read.putAll(SqlServerIdentity.exact(quoted("exact_source"), quoted("exact_message_id")));
            return;
        }
        Column key = old("message_id").orElseThrow();
        read.putAll(SqlServerIdentity.byMessageId(
                key,
                old("source").orElseThrow(),
                byOld ? SqlServerIdentity.forgetting(table, status(0), status(1), quoted("topic")) : null));
        if (byOld) {
            read.put("work_item_id", key.quoted());
            read.put("out_work_item_id", "inserted." + key.quoted());
            read.put("created_on", quoted("first_seen_on"));
            read.put("out_created_on", "inserted." + quoted("first_seen_on"));
        }
    }

    Writes writes() {
        if (written.isEmpty()) {
            return Writes.PLAIN;
        }
        return new Writes(written, phase == Phase.CLEAN ? Map.of() : Map.of("status", "0", "attempt_count", "0"));
    }

    /** What the table can hold of what tells messages apart, routes and relates them. */
    Map<String, Limit> limits() {
        Map<String, Limit> limits = new HashMap<>();
        for (String logical : inbox ? List.of("topic", "message_id", "source") : List.of("topic", "correlation_id")) {
            old(logical)
                    .filter(column -> column.isText() && column.characters() > 0)
                    .ifPresent(column -> limits.put(
                            logical,
                            new Limit(column.characters(), !column.type().startsWith("n"))));
        }
        return limits;
    }

    private void map(String logical) {
        Optional<Column> found = found(logical);
        Optional<Column> told = told(logical);
        read.put(logical, told.map(column -> reading(logical, column)).orElseGet(() -> "(" + absent(logical) + ")"));
        // OUTPUT names columns as they are, or says what is the same for all.
        read.put(
                "out_" + logical,
                told.map(column -> "inserted." + column.quoted()).orElseGet(() -> absent(logical)));
        List<Target> targets = new ArrayList<>();
        found.filter(column -> !column.computed())
                .ifPresent(column -> targets.add(new Target(column.quoted(), writing(logical, column))));
        if (hasInterim(logical)) {
            old(logical).ifPresent(column -> targets.add(new Target(column.quoted(), writing(logical, column))));
        }
        if (logical.equals("status")) {
            like(stored, LegacyNames.IS_PROCESSED)
                    .ifPresent(column ->
                            targets.add(new Target(column.quoted(), "CASE WHEN (%1$s) = 2 THEN 1 ELSE 0 END")));
        } else if (logical.equals("owner_token")) {
            like(stored, List.of(LegacyNames.LIBRARY_TOKEN))
                    .ifPresent(column ->
                            targets.add(new Target(column.quoted(), "COALESCE(%1$s, " + column.quoted() + ")")));
        }
        boolean asItIs = found.filter(column -> column.computed()
                        || (column.quoted().equals(read.get(logical))
                                && targets.equals(List.of(new Target(column.quoted())))))
                .isPresent();
        if (!asItIs || phase != Phase.CLEAN) {
            written.put(logical, targets);
        }
    }

    private String absent(String logical) {
        return ABSENT.getOrDefault(logical, "CAST(NULL AS nvarchar(255))");
    }

    private String reading(String logical, Column column) {
        if (logical.equals("topic") && !BINARY.equalsIgnoreCase(column.collation())) {
            return "(@" + column.quoted() + " COLLATE " + BINARY + ")";
        }
        if (logical.equals("status") && column.isText()) {
            return "(CASE @%s WHEN '%s' THEN 0 WHEN '%s' THEN 1 WHEN '%s' THEN 2 WHEN '%s' THEN 3 END)"
                    .formatted(
                            column.quoted(),
                            LegacyNames.STATUSES.get(0),
                            LegacyNames.STATUSES.get(1),
                            LegacyNames.STATUSES.get(2),
                            LegacyNames.STATUSES.get(3));
        }
        if (phase == Phase.ADDITIVE && logical.equals("priority")) { // not before phase 2, so all rows have the same
            return "(" + absent(logical) + ")";
        }
        return phase == Phase.ADDITIVE && logical.equals("receipt_count")
                ? "(COALESCE(@" + column.quoted() + ", " + absent(logical) + "))"
                : column.quoted();
    }

    private String writing(String logical, Column column) {
        if (logical.equals("message_id") && !column.isText()) {
            return "CAST(%1$s AS uniqueidentifier)";
        }
        if (logical.equals("status") && column.isText()) {
            return "CASE (%%1$s) WHEN 0 THEN '%s' WHEN 1 THEN '%s' WHEN 2 THEN '%s' ELSE '%s' END"
                    .formatted(LegacyNames.STATUSES.toArray());
        }
        if (logical.equals("first_due_on")
                && column.type().equals("datetime2")
                && hasOffset("due_on", "created_on", "first_seen_on")) {
            return "SWITCHOFFSET(CAST(%1$s AS datetimeoffset(7)), 0)"; // or its offset would be cut off
        }
        return column.characters() > 0 && column.characters() < FOR_PEOPLE.getOrDefault(logical, 0)
                ? "LEFT(%1$s, " + column.characters() + ")"
                : "%1$s";
    }

    private boolean hasOffset(String... logical) {
        return Arrays.stream(logical)
                .flatMap(name -> found(name).stream())
                .anyMatch(column -> column.type().equals("datetimeoffset"));
    }

    private String quoted(String logical) {
        return found(logical).map(Column::quoted).orElseGet(() -> "(" + absent(logical) + ")");
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
