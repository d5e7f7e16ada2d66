package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Whether the columns of a legacy table of SQL Server can be taken over. Most stay as they are for ever, so that they have
 * to be what the library asks of a canonical table, and can be changed in phase 0 only: from phase 1 on aliases and indexes
 * hold on to them.
 */
final class LegacyColumns {
    private static final List<String> TIMES = List.of("datetime2", "datetimeoffset");

    private static final List<String> TEXTS = List.of("varchar", "nvarchar");

    /** The types that a legacy column may have, so that it can be used as it is. */
    private static final Map<String, List<String>> TYPES = Map.ofEntries(
            Map.entry("work_item_id", List.of("uniqueidentifier")),
            Map.entry("owner_token", List.of("uniqueidentifier")),
            Map.entry("message_id", List.of("uniqueidentifier", "nvarchar")),
            Map.entry("status", List.of("tinyint", "smallint", "int")),
            Map.entry("attempt_count", List.of("int")),
            Map.entry("topic", List.of("nvarchar")),
            Map.entry("payload", List.of("nvarchar")),
            Map.entry("last_error", List.of("nvarchar")),
            Map.entry("processed_by", List.of("nvarchar")),
            Map.entry("correlation_id", List.of("nvarchar")),
            Map.entry("created_on", TIMES),
            Map.entry("due_on", TIMES),
            Map.entry("locked_until", TIMES),
            Map.entry("processed_on", TIMES),
            Map.entry("first_seen_on", TIMES),
            Map.entry("last_seen_on", TIMES));

    /** Where that of an inbox is another. */
    private static final Map<String, List<String>> INBOX_TYPES = Map.of(
            "message_id", TEXTS,
            "source", TEXTS,
            "status", TEXTS,
            "hash", List.of("binary", "varbinary"));

    /** Not every legacy outbox has them. */
    private static final List<String> SHARED = List.of("processed_by", "processed_on", "correlation_id");

    private final LegacyTable table;
    private final boolean legacy;
    private final List<Finding> findings = new ArrayList<>();

    LegacyColumns(LegacyTable table) {
        this.table = table;
        this.legacy = table.phase() == Phase.LEGACY;
    }

    List<Finding> findings() {
        for (Canonical.Column column : table.canonical().columns()) {
            String logical = column.logical();
            Column found = table.stored(logical).orElse(null);
            boolean known = table.legacyNames().known().contains(logical);
            boolean shared = !table.inbox() && SHARED.contains(logical);
            if (found == null) {
                if (known && legacy) {
                    add(Concern.COLUMN_MISSING, "no column was found for " + logical);
                }
            } else if (known || shared) {
                look(column, found);
            } else if (legacy) {
                add(
                        Concern.COLUMN_TYPE,
                        "a column is already called " + column.name()
                                + ", like one that phase 1 adds; rename it first");
            }
        }
        return findings;
    }

    private void look(Canonical.Column column, Column found) {
        String logical = column.logical();
        if (!legacy && isReplaced(logical)) {
            return;
        }
        String is = "column " + found.name() + " is " + found.definition();
        List<String> types = types(logical);
        if (!types.contains(found.type())) {
            add(
                    Concern.COLUMN_TYPE,
                    is + ", but " + logical + " must be " + String.join(" or ", types) + "; change its type" + when());
        } else if (found.characters() < least(column, found)) {
            later(
                    Concern.COLUMN_TYPE,
                    is + ", but " + logical + " must be at least "
                            + column.definition().replaceAll(" .*", "") + "; make it longer");
        } else if (column.notNull() && found.nullable()) {
            later(
                    Concern.COLUMN_NULLABILITY,
                    is + " NULL, but " + logical + " must not allow nulls; fill the nulls, and make it NOT NULL");
        } else if (!column.notNull() && !found.nullable() && !isMadeNullable(logical)) {
            later(Concern.COLUMN_NULLABILITY, is + " NOT NULL, but " + logical + " must allow nulls; make it nullable");
        }
    }

    /** It is dropped in the end, or was already. */
    private boolean isReplaced(String logical) {
        return table.inbox() ? List.of("message_id", "source", "status").contains(logical) : table.changes(logical);
    }

    private List<String> types(String logical) {
        return table.inbox() && INBOX_TYPES.containsKey(logical)
                ? INBOX_TYPES.get(logical)
                : TYPES.getOrDefault(logical, List.of());
    }

    /** How many characters or bytes it must hold already; topics and errors become longer in phase 4. */
    private int least(Canonical.Column column, Column found) {
        return switch (column.logical()) {
            case "payload" -> Integer.MAX_VALUE;
            case "hash" -> 32;
            case "message_id" -> !table.inbox() && LegacyTable.isText(found) ? 255 : 0;
            default -> 0;
        };
    }

    /** By the flip, and the way back leaves it so. */
    private boolean isMadeNullable(String logical) {
        return logical.equals("payload") || (!table.inbox() && logical.equals("message_id"));
    }

    private String when() {
        return legacy ? " first" : "; for that take the table back to phase 0";
    }

    private void add(Concern concern, String text) {
        findings.add(new Finding(concern, text, 0, legacy, blocks()));
    }

    /** The library works with it in phase 0, as the old application does. */
    private void later(Concern concern, String text) {
        findings.add(new Finding(concern, text + when(), 0, false, blocks()));
    }

    private Set<Phase> blocks() {
        return Set.of(legacy ? Phase.ADDITIVE : Phase.CLEAN);
    }
}
