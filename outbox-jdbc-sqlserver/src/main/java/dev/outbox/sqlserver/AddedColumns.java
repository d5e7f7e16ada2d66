package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.catalog.ColumnNames;
import dev.outbox.jdbc.internal.catalog.LegacyNames;
import java.util.List;

/** The columns that phase 1 adds to a legacy table. */
final class AddedColumns {
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

    private static final List<String> ADDED_TO_INBOX = List.of(
            "work_item_id",
            "created_on",
            "consumer",
            "receipt_count",
            "correlation_id",
            "processed_by",
            LegacyNames.interim("source"),
            LegacyNames.interim("status"));

    private AddedColumns() {}

    /** Whether this is one of them: before phase 1, or while that is being taken back, the library does not use it. */
    static boolean have(String column, boolean inbox) {
        ColumnNames name = new ColumnNames("", List.of(column));
        return name.like(ADDED, null).isPresent()
                || (inbox && name.like(ADDED_TO_INBOX, null).isPresent());
    }
}
