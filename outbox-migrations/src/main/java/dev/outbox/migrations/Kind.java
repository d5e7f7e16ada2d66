package dev.outbox.migrations;

import java.util.List;
import java.util.Map;

/** One of the two tables, with what its columns are called in legacy layouts. */
final class Kind {
    static final Kind OUTBOX = new Kind(
            Canonical.OUTBOX,
            "dev.outbox phase ",
            Map.of(
                    "work_item_id", List.of("id"),
                    "created_on", List.of("createdat"),
                    "processed_on", List.of("processedat"),
                    "attempt_count", List.of("retrycount"),
                    "due_on", List.of("duetimeutc", "duetime", "dueat")),
            Map.of(
                    "created_on", "statement_timestamp()",
                    "attempt_count", "0",
                    "priority", "1",
                    "blocks_key", "false"));

    static final Kind INBOX = new Kind(
            Canonical.INBOX,
            "dev.outbox inbox phase ",
            Map.of(
                    "first_seen_on", List.of("firstseenutc", "firstseenat"),
                    "last_seen_on", List.of("lastseenutc", "lastseenat"),
                    "processed_on", List.of("processedutc", "processedat"),
                    "attempt_count", List.of("attempts"),
                    "due_on", List.of("duetimeutc", "duetime", "dueat")),
            Map.of(
                    "work_item_id", "gen_random_uuid()",
                    "first_seen_on", "statement_timestamp()",
                    "last_seen_on", "statement_timestamp()",
                    "created_on", "{first_seen_on}",
                    "attempt_count", "0",
                    "receipt_count", "1",
                    "priority", "1",
                    "blocks_key", "false"));

    final Canonical canonical;
    /** What the line of the table's comment begins with that tells the phase. */
    final String marker;
    /** Old names by canonical one, in lower case without underscores; each also goes by its own. */
    final Map<String, List<String>> oldNames;
    /** What a row gets in columns that no old column tells of. */
    final Map<String, String> fills;

    private Kind(Canonical canonical, String marker, Map<String, List<String>> oldNames, Map<String, String> fills) {
        this.canonical = canonical;
        this.marker = marker;
        this.oldNames = oldNames;
        this.fills = fills;
    }
}
