package dev.outbox.postgres;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.FoundTable;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import dev.outbox.jdbc.internal.catalog.Quoted;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.layout.Target;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The column mapper: what stands for each logical column of a table in a phase, to be read and to be written.
 *
 * <p>In phases 0 and 1 what old writers know is read from the old columns, for not every row has the new ones filled,
 * and old indexes serve old predicates; from phase 2 on the new ones are read. In phases 1 and 2 both are written. From
 * phase 3 on no old column is named in a caller's transaction, so that they can be dropped.
 */
final class PostgresColumns {
    /** The old text of a status is at the place of its code. */
    private static final String STATUSES = "ARRAY['Seen','Processing','Done','Dead']";

    /** What is read where there is no column yet, or where it is not filled yet; else null. */
    private static final Map<String, String> ABSENT = Map.of(
            "sequence", "0::bigint",
            "priority", "1::smallint",
            "blocks_key", "false",
            "receipt_count", "1",
            "payload_bytes", "NULL::bytea");

    private final ColumnNames names;
    private final Map<String, Column> columns;
    private final Phase phase;
    private final boolean inbox;
    private final LegacyNames legacy;
    private final Map<String, Reading> read = new HashMap<>();
    private final Map<String, List<Target>> written = new HashMap<>();

    PostgresColumns(FoundTable table, TableKind kind) {
        this.phase = table.phase();
        this.inbox = kind == TableKind.INBOX;
        this.columns = phase == Phase.LEGACY ? beforeAnyMigration(table.columns()) : table.columns();
        this.names = new ColumnNames(table.name().toString(), columns.keySet());
        this.legacy = inbox ? LegacyNames.INBOX : LegacyNames.OUTBOX;
    }

    /** Without the columns of a migration that is being taken back: they are about to go. */
    private static Map<String, Column> beforeAnyMigration(Map<String, Column> columns) {
        Map<String, Column> old = new HashMap<>(columns);
        if (columns.containsKey(LegacyNames.LEGACY_WRITE)) {
            List<String> names = List.copyOf(columns.keySet());
            old.keySet().removeAll(names.subList(names.indexOf(LegacyNames.LEGACY_WRITE), names.size()));
        }
        return old;
    }

    /** What a legacy table must have and this one has not. */
    List<String> missing() {
        return legacy.known().stream()
                .map(legacy::of)
                .filter(old -> names.like(old, null).isEmpty())
                .map(old -> old.get(0))
                .sorted()
                .toList();
    }

    /** @param logical all columns of the canonical table */
    Layout layout(String table, List<String> logical, Map<String, Object> constants) {
        logical.forEach(this::map);
        boolean byOld = phase.before(Phase.DUAL);
        if (inbox && byOld) {
            // A row is found by its key: it has no work item id yet, or perhaps not.
            put("work_item_id", oldOrShared("message_id").orElseThrow());
            read.put("created_on", reading("first_seen_on"));
        }
        if (!inbox && phase == Phase.DUAL) {
            // Old applications need its index; another one would cost every claim and settle a tenth.
            put("work_item_id", oldOrShared("work_item_id").orElseThrow());
        }
        if (phase == Phase.LEGACY) {
            // Retries change the due time, and nothing keeps the first one.
            read.put("first_due_on", reading("created_on"));
        }
        String id = reading("work_item_id").text();
        read.put(
                "item_id",
                inbox && byOld ? Reading.of("'" + ItemIds.MESSAGE + "' || %s", id) : reading("work_item_id"));
        fix("id_type", (inbox && byOld ? ItemIds.MESSAGE_ID : ItemIds.WORK_ITEM).type());
        fix("mine", inbox && !byOld ? reading("consumer").text() + " = :consumer" : "true");
        if (inbox) {
            read.put("claim_order", reading("last_seen_on"));
        } else {
            fix("source", "(NULL::text)");
            read.put("claim_order", reading("created_on"));
        }
        putStatuses(byOld);
        return new Layout(table, read, written, constants);
    }

    private void put(String logical, String quoted) {
        read.put(logical, Reading.column(quoted));
    }

    private void fix(String logical, String text) {
        read.put(logical, Reading.fixed(text));
    }

    private Reading reading(String logical) {
        return Objects.requireNonNull(read.get(logical));
    }

    /**
     * The same for transactions of our own. A statement of theirs that fails for a column that is gone harms nobody and is
     * repeated, so in phase 3 they go on writing both sides, and the database has nothing to copy. An old column whose
     * name a canonical one waits for is left to the database: it may come back with another type.
     */
    Layout own(Layout layout, List<String> logical) {
        if (phase != Phase.FLIPPED) {
            return layout;
        }
        Map<String, List<Target>> both = new HashMap<>();
        logical.stream()
                .filter(column -> newColumn(column).equals(column))
                .forEach(column -> both.put(column, targets(column, Optional.of(quote(column)))));
        return new Layout(layout.table(), layout.columns(), both, layout.constants());
    }

    /** Predicates that an index serves, whatever the type of the status. */
    private void putStatuses(boolean byOld) {
        Optional<String> text = byOld ? oldOrShared("status").filter(this::isText) : Optional.empty();
        String status = text.orElseGet(() -> reading("status").text());
        Optional<String> processed = inbox || !byOld ? Optional.empty() : old(LegacyNames.IS_PROCESSED, null);
        String unprocessed =
                processed.map(flag -> " AND " + flag + " IS NOT TRUE").orElse("");
        fix("ready", status + (text.isPresent() ? " = 'Seen'" : " = 0") + unprocessed);
        fix("processing", status + (text.isPresent() ? " = 'Processing'" : " = 1"));
        fix("done", processed.orElse(status + (text.isPresent() ? " = 'Done'" : " = 2")));
        fix("still_done", processed.orElse(status + (text.isPresent() ? " = 'Done'" : " >= 2 AND " + status + " < 3")));
    }

    private void map(String logical) {
        Optional<String> now = phase == Phase.LEGACY
                ? Optional.empty()
                : Optional.of(newColumn(logical)).filter(names::has).map(PostgresColumns::quote);
        Optional<String> before = phase.before(Phase.FLIPPED) ? oldOrShared(logical) : Optional.empty();
        if (phase.before(Phase.DUAL)) {
            read.put(logical, before.map(column -> reading(logical, column)).orElseGet(() -> unfilled(logical, now)));
        } else {
            put(logical, now.orElse(quote(logical)));
        }
        if (phase.before(Phase.FLIPPED)) {
            written.put(logical, targets(logical, now));
        }
    }

    /** Both sides. */
    private List<Target> targets(String logical, Optional<String> now) {
        List<Target> targets = new ArrayList<>();
        now.ifPresent(column -> targets.add(new Target(column)));
        oldOrShared(logical)
                .filter(column -> !Optional.of(column).equals(now))
                .ifPresent(column -> targets.add(new Target(column, writing(logical, column))));
        if (logical.equals("status") && !inbox) {
            old(LegacyNames.IS_PROCESSED, null).ifPresent(column -> targets.add(new Target(column, "((%s) = 2)")));
        }
        return targets;
    }

    /** A new column that the backfill may not have reached. */
    private static Reading unfilled(String logical, Optional<String> column) {
        String absent = ABSENT.getOrDefault(logical, "NULL::text");
        return column.map(name -> absent.startsWith("NULL")
                        ? Reading.column(name)
                        : Reading.of("COALESCE(%s, " + absent + ")", name))
                .orElse(Reading.fixed("(" + absent + ")"));
    }

    private Reading reading(String logical, String column) {
        if (logical.equals("status") && isText(column)) {
            return Reading.of("array_position(" + STATUSES + ", %s::text) - 1", column);
        }
        return logical.equals("message_id") && !isText(column)
                ? Reading.of("%s::text", column)
                : Reading.column(column);
    }

    /** What is only for people to read is cut off where the old column is shorter. */
    private String writing(String logical, String column) {
        if (logical.equals("status") && isText(column)) {
            return "(" + STATUSES + ")[(%s) + 1]";
        }
        if (logical.equals("message_id") && !isText(column)) {
            return "(%s)::uuid";
        }
        return limit(column).isPresent()
                ? "(%s)::" + column(column).orElseThrow().definition()
                : "%s";
    }

    /** How many characters of what tells messages apart or routes them the table can hold. */
    Map<String, Integer> limits() {
        Map<String, Integer> limits = new HashMap<>();
        for (String logical : List.of("topic", "message_id", "source", "correlation_id")) {
            List<Target> targets = written.getOrDefault(
                    logical,
                    Optional.ofNullable(read.get(logical)).stream()
                            .map(reading -> new Target(reading.text()))
                            .toList());
            targets.stream()
                    .flatMap(target -> limit(target.column()).stream())
                    .min(Integer::compare)
                    .ifPresent(limit -> limits.put(logical, limit));
        }
        return limits;
    }

    /** The column's own name, unless an old column of another type has it. */
    private String newColumn(String logical) {
        return phase.before(Phase.RENAMING) && names.has(LegacyNames.interim(logical))
                ? LegacyNames.interim(logical)
                : logical;
    }

    /** The old column, which may be the new one too. */
    private Optional<String> oldOrShared(String logical) {
        if (phase == Phase.LEGACY) {
            return old(legacy.of(logical), null);
        }
        String now = newColumn(logical);
        Optional<String> other = old(legacy.of(logical), now);
        return other.isPresent() || !legacy.known().contains(logical) ? other : Optional.of(quote(now));
    }

    private Optional<String> old(List<String> wanted, @Nullable String except) {
        return names.like(wanted, except).map(PostgresColumns::quote);
    }

    private boolean isText(String quoted) {
        String type = column(quoted).map(Column::type).orElse("");
        return type.equals("text") || type.startsWith("character");
    }

    private Optional<Integer> limit(String quoted) {
        return column(quoted)
                .filter(column -> column.type().equals("character varying") && column.characters() != Column.UNLIMITED)
                .map(Column::characters);
    }

    private Optional<Column> column(String quoted) {
        return columns.values().stream()
                .filter(column -> quote(column.name()).equals(quoted))
                .findFirst();
    }

    private static String quote(String name) {
        return Quoted.postgres(name);
    }
}
