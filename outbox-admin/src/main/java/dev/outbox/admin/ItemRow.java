package dev.outbox.admin;

import dev.outbox.Status;
import dev.outbox.internal.HeadersText;
import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads an item from a row. */
final class ItemRow {
    private ItemRow() {}

    static Item read(ResultSet row, TableKind kind) throws SQLException {
        return new Item(
                new ItemRef(kind, row.getString("id").toLowerCase(Locale.ROOT)),
                Status.ofCode(row.getInt("status")),
                row.getLong("sequence"),
                row.getString("topic"),
                row.getString("message_key"),
                row.getString("message_id"),
                row.getString("correlation_id"),
                row.getString("tenant_id"),
                row.getString("consumer"),
                row.getString("source"),
                row.getInt("attempt_count"),
                Timestamps.read(row, "created_on"),
                Timestamps.readOptional(row, "due_on"),
                Timestamps.readOptional(row, "processed_on"),
                row.getString("processed_by"),
                row.getBoolean("blocks_key"),
                row.getString("last_error"));
    }

    static ItemDetail detail(ResultSet row, TableKind kind, boolean withPayload) throws SQLException {
        return new ItemDetail(
                read(row, kind),
                headers(row.getString("headers")),
                row.getString("content_type"),
                withPayload ? row.getString("payload") : null,
                withPayload ? base64(row.getBytes("payload_bytes")) : null);
    }

    private static @Nullable String base64(byte @Nullable [] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    /** An item that is Dead because its headers cannot be read can still be shown. */
    private static Map<String, String> headers(@Nullable String text) {
        try {
            return HeadersText.read(text);
        } catch (IllegalArgumentException e) {
            return Map.of("(unreadable)", String.valueOf(text));
        }
    }
}
