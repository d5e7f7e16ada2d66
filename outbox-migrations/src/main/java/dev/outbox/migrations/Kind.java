package dev.outbox.migrations;

import dev.outbox.jdbc.internal.catalog.LegacyNames;
import java.util.Map;

/** One of the two tables, with what its columns are called in legacy layouts and what fills those that are new. */
final class Kind {
    static final Kind OUTBOX = new Kind(
            Canonical.OUTBOX,
            "dev.outbox phase ",
            LegacyNames.OUTBOX,
            Map.of(
                    "created_on", "statement_timestamp()",
                    "attempt_count", "0",
                    "priority", "1",
                    "blocks_key", "false"));

    static final Kind INBOX = new Kind(
            Canonical.INBOX,
            "dev.outbox inbox phase ",
            LegacyNames.INBOX,
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

    final LegacyNames legacy;
    /** What a row gets in columns that no old column tells of. */
    final Map<String, String> fills;

    private Kind(Canonical canonical, String marker, LegacyNames legacy, Map<String, String> fills) {
        this.canonical = canonical;
        this.marker = marker;
        this.legacy = legacy;
        this.fills = fills;
    }
}
