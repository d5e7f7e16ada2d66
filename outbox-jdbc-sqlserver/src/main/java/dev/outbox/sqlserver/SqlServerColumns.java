package dev.outbox.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.ColumnNames;
import dev.outbox.jdbc.internal.LegacyNames;
import dev.outbox.jdbc.internal.Writes;
import dev.outbox.jdbc.internal.Writes.Target;
import dev.outbox.sqlserver.SqlServerCatalog.Column;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The column mapper: what stands for each logical column of a table in a phase, to be read and to be written.
 *
 * <p>A column that only changes its name is stored once, in phases 0 to 2 under the old name and from 3 on under the new
 * one; the other name is a computed alias, which nobody can write and we do not read. So most of a layout is told by
 * which columns are stored, whatever the phase. The message id changes its type: from phase 1 to 3 it has a column of
 * each, and both are written.
 */
final class SqlServerColumns {
    /** How texts are compared: as they are. */
    private static final String BINARY = "Latin1_General_100_BIN2";

    /** What is read where there is no column yet, or where it is not filled yet; else null. */
    private static final Map<String, String> ABSENT = Map.of(
            "sequence", "CAST(0 AS bigint)",
            "priority", "CAST(1 AS smallint)",
            "blocks_key", "CAST(0 AS bit)",
            "headers", "CAST(NULL AS nvarchar(max))",
            "payload_bytes", "CAST(NULL AS varbinary(max))");

    /** What phase 1 adds. */
    private static final List<String> ADDED = List.of(
            "sequence",
            "priority",
            "blocks_key",
            "message_key",
            LegacyNames.interim("message_id"),
            "tenant_id",
            "content_type",
            "headers",
            "payload_bytes",
            "exact_key",
            LegacyNames.LIBRARY_TOKEN);

    /** Only for people to read, and how long it may be: cut off where the old column is shorter. */
    private static final Map<String, Integer> FOR_PEOPLE = Map.of("processed_by", 255, "last_error", 2_000);

    private final String table;
    private final Phase phase;
    private final Map<String, Column> stored;
    private final Map<String, Column> computed;
    private final Map<String, String> read = new HashMap<>();
    private final Map<String, List<Target>> written = new HashMap<>();

    SqlServerColumns(String table, Collection<Column> columns, Phase phase) {
        this.table = table;
        this.phase = phase;
        Map<Boolean, Map<String, Column>> all = columns.stream()
                .filter(column -> phase != Phase.LEGACY || !isAdded(column.name()))
                .collect(Collectors.partitioningBy(
                        Column::computed, Collectors.toMap(Column::name, Function.identity())));
        this.stored = all.getOrDefault(false, Map.of());
        this.computed = all.getOrDefault(true, Map.of());
    }

    /** Whether phase 1 adds it: before that, or while it is being taken back, it is none of ours. */
    private static boolean isAdded(String column) {
        return new ColumnNames("", List.of(column)).like(ADDED, null).isPresent();
    }

    /** What a legacy table must have and this one has not. */
    List<String> missing(LegacyNames legacy) {
        return legacy.known().stream()
                .map(legacy::of)
                .filter(old -> like(stored, old).isEmpty())
                .map(old -> old.get(0))
                .sorted()
                .toList();
    }

    /** Which of these logical columns no column stands for. */
    List<String> missing(Collection<String> logical) {
        return logical.stream().filter(column -> found(column).isEmpty()).toList();
    }

    /** @param logical all columns of the canonical table */
    Map<String, String> layout(Collection<String> logical) {
        logical.forEach(this::map);
        boolean byOld = phase.before(Phase.DUAL);
        String item = quoted("work_item_id");
        if (found("sequence").isEmpty()) {
            // No constants, which ORDER BY and GROUP BY refuse.
            read.put("sequence", "(CAST(0 * @" + quoted("attempt_count") + " AS bigint))");
            read.put("exact_key", "(NULLIF(@%1$s, @%1$s))".formatted(quoted("topic")));
        }
        read.put("place", byOld ? item : quoted("sequence"));
        read.put("claim_order", byOld ? quoted("created_on") : quoted("sequence"));
        read.put(
                "no_row",
                byOld
                        ? item + " = CAST(0x00000000000000000000000000000000 AS uniqueidentifier)"
                        : quoted("sequence") + " = 0");
        // An old application writes the old one, and before phase 3 it can hold every id.
        Optional<Column> oldId =
                phase.before(Phase.FLIPPED) ? old("message_id").filter(column -> !column.isText()) : Optional.empty();
        oldId.ifPresent(column -> read.put("out_message_id", "inserted." + column.quoted()));
        read.put("as_message_id", oldId.isPresent() ? "LOWER(c.message_id)" : "c.message_id");
        Optional<Column> processed = byOld ? like(stored, LegacyNames.IS_PROCESSED) : Optional.empty();
        read.put(
                "unprocessed",
                processed.map(column -> " AND " + column.quoted() + " = 0").orElse(""));
        read.put(
                "done",
                processed.map(Column::quoted).orElse(quoted("status")) + (processed.isPresent() ? " = 1" : " = 2"));
        return read;
    }

    Writes writes() {
        if (written.isEmpty()) {
            return Writes.PLAIN;
        }
        return new Writes(written, phase == Phase.CLEAN ? Map.of() : Map.of("status", "0", "attempt_count", "0"));
    }

    /** How many characters of what routes and relates messages the table can hold. */
    Map<String, Integer> limits() {
        Map<String, Integer> limits = new HashMap<>();
        for (String logical : List.of("topic", "correlation_id")) {
            found(logical)
                    .filter(column -> column.isText() && column.characters() > 0)
                    .ifPresent(column -> limits.put(logical, column.characters()));
        }
        return limits;
    }

    private void map(String logical) {
        Optional<Column> found = found(logical);
        read.put(logical, found.map(column -> reading(logical, column)).orElseGet(() -> "(" + absent(logical) + ")"));
        // OUTPUT names columns as they are, or says what is the same for all.
        read.put(
                "out_" + logical,
                found.map(column -> "inserted." + column.quoted()).orElseGet(() -> absent(logical)));
        List<Target> targets = new ArrayList<>();
        found.filter(column -> !column.computed())
                .ifPresent(column -> targets.add(new Target(column.quoted(), writing(logical, column))));
        if (logical.equals("message_id") && hasInterim(logical)) {
            old(logical)
                    .ifPresent(
                            column -> targets.add(new Target(column.quoted(), "TRY_CAST(%1$s AS uniqueidentifier)")));
        } else if (logical.equals("status")) {
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
        return phase == Phase.ADDITIVE
                        && ABSENT.containsKey(logical)
                        && !absent(logical).contains("NULL")
                ? "(COALESCE(@" + column.quoted() + ", " + absent(logical) + "))"
                : column.quoted();
    }

    private static String writing(String logical, Column column) {
        if (logical.equals("message_id") && !column.isText()) {
            return "CAST(%1$s AS uniqueidentifier)";
        }
        return column.characters() > 0 && column.characters() < FOR_PEOPLE.getOrDefault(logical, 0)
                ? "LEFT(%1$s, " + column.characters() + ")"
                : "%1$s";
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

    private boolean hasInterim(String logical) {
        return phase != Phase.CLEAN
                && like(stored, List.of(LegacyNames.interim(logical))).isPresent();
    }

    /** Under its old name, or its canonical one. */
    private Optional<Column> old(String logical) {
        return like(stored, phase == Phase.CLEAN ? List.of(logical) : LegacyNames.OUTBOX.of(logical));
    }

    private Optional<Column> like(Map<String, Column> columns, Collection<String> wanted) {
        return new ColumnNames(table, columns.keySet()).like(wanted, null).map(columns::get);
    }
}
