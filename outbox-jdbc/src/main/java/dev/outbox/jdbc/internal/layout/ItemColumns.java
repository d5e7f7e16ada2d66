package dev.outbox.jdbc.internal.layout;

import java.util.ArrayList;
import java.util.List;

/** The columns that outbox and inbox tables have in common, by their logical names. */
public final class ItemColumns {
    public static final List<String> ALL = List.of(
            "work_item_id",
            "owner_token",
            "sequence",
            "created_on",
            "due_on",
            "first_due_on",
            "locked_until",
            "processed_on",
            "attempt_count",
            "status",
            "priority",
            "blocks_key",
            "topic",
            "message_key",
            "message_id",
            "correlation_id",
            "tenant_id",
            "content_type",
            "processed_by",
            "last_error",
            "headers",
            "payload",
            "payload_bytes");

    private ItemColumns() {}

    /** These, and one more that only one database has. */
    public static List<String> with(String column) {
        List<String> columns = new ArrayList<>(ALL);
        columns.add(column);
        return List.copyOf(columns);
    }
}
