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

/** An item as a row of an answer. */
final class ItemRow {
    /** What a statement on PostgreSQL selects. */
    static final String POSTGRES = """
            {work_item_id} AS id, {status} AS status, {sequence} AS sequence, {topic} AS topic,
                    {message_key} AS message_key, COALESCE({message_id}, {work_item_id}::text) AS message_id,
                    {correlation_id} AS correlation_id, {tenant_id} AS tenant_id, {consumer} AS consumer,
                    {source} AS source, {attempt_count} AS attempt_count, {created_on} AS created_on, {due_on} AS due_on,
                    {processed_on} AS processed_on, {processed_by} AS processed_by, {blocks_key} AS blocks_key,
                    {last_error} AS last_error""";

    /** What a statement on SQL Server selects. */
    static final String SQL_SERVER = """
            {work_item_id} AS id, {status} AS status, {sequence} AS sequence, {topic} AS topic,
                    {message_key} AS message_key,
                    COALESCE({message_id}, LOWER(CAST({work_item_id} AS nvarchar(36)))) AS message_id,
                    {correlation_id} AS correlation_id, {tenant_id} AS tenant_id, {consumer} AS consumer,
                    {source} AS source, {attempt_count} AS attempt_count,
                    CAST({created_on} AS datetimeoffset(7)) AS created_on, CAST({due_on} AS datetimeoffset(7)) AS due_on,
                    CAST({processed_on} AS datetimeoffset(7)) AS processed_on, {processed_by} AS processed_by,
                    {blocks_key} AS blocks_key, {last_error} AS last_error""";

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

    /** What is Dead because nobody can read it can still be looked at. */
    private static Map<String, String> headers(@Nullable String text) {
        try {
            return HeadersText.read(text);
        } catch (IllegalArgumentException e) {
            return Map.of("(unreadable)", String.valueOf(text));
        }
    }
}
