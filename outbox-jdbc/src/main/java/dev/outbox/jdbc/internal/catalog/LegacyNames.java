package dev.outbox.jdbc.internal.catalog;

import dev.outbox.jdbc.TableKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What the columns of one kind of legacy table are called. {@link ColumnNames} finds them in any spelling.
 *
 * @param renamed old names of the columns that every such table has, by their canonical ones; the canonical name itself
 *     is always another one
 */
public record LegacyNames(Map<String, List<String>> renamed) {
    /** Legacy tables of both kinds have them. */
    private static final List<String> COMMON =
            List.of("status", "topic", "payload", "last_error", "locked_until", "owner_token");

    public static final LegacyNames OUTBOX = withCommon(Map.of(
            "work_item_id", List.of("id"),
            "message_id", List.of(),
            "created_on", List.of("created_at"),
            "processed_on", List.of("processed_at"),
            "attempt_count", List.of("retry_count"),
            "due_on", List.of("due_time_utc", "due_time", "due_at")));

    public static final LegacyNames INBOX = withCommon(Map.of(
            "message_id", List.of(),
            "source", List.of(),
            "hash", List.of(),
            "first_seen_on", List.of("first_seen_utc", "first_seen_at"),
            "last_seen_on", List.of("last_seen_utc", "last_seen_at"),
            "processed_on", List.of("processed_utc", "processed_at"),
            "attempt_count", List.of("attempts"),
            "due_on", List.of("due_time_utc", "due_time", "due_at")));

    /** How a legacy inbox spells its statuses, each at the place of its number. */
    public static final List<String> STATUSES = List.of("Seen", "Processing", "Done", "Dead");

    /** An outbox says a second time by it that a row is Done. */
    public static final List<String> IS_PROCESSED = List.of("is_processed");

    /** The first column that the migrations add: when a writer last changed old columns only. It goes in phase 4. */
    public static final String LEGACY_WRITE = "legacy_write_on";

    /**
     * On SQL Server, which has no trigger to note old writers: the token of our last lease of a row. It goes in phase 4. A
     * row whose owner is another one was claimed by an old application.
     */
    public static final String LIBRARY_TOKEN = "library_token";

    /** The names of a table of this kind. */
    public static LegacyNames forTable(TableKind kind) {
        return kind == TableKind.OUTBOX ? OUTBOX : INBOX;
    }

    private static LegacyNames withCommon(Map<String, List<String>> renamed) {
        Map<String, List<String>> all = new LinkedHashMap<>(renamed);
        COMMON.forEach(column -> all.put(column, List.of()));
        return new LegacyNames(all);
    }

    /** The canonical names of what every legacy table has. */
    public Set<String> known() {
        return renamed.keySet();
    }

    /** What a column may be called in a legacy table; the canonical name comes last. */
    public List<String> of(String canonical) {
        List<String> names = new ArrayList<>(renamed.getOrDefault(canonical, List.of()));
        names.add(canonical);
        return names;
    }

    /** What a new column is called while an old column of another type has its name. */
    public static String interim(String canonical) {
        return canonical.equals("status") ? "status_code" : canonical + "_new";
    }
}
