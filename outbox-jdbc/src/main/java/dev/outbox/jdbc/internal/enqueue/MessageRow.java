package dev.outbox.jdbc.internal.enqueue;

import dev.outbox.Message;
import dev.outbox.PayloadSerializer;
import dev.outbox.Priority;
import dev.outbox.internal.CoreAccess;
import dev.outbox.internal.HeadersText;
import dev.outbox.internal.Require;
import dev.outbox.internal.UuidV7;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.jdbc.internal.sql.Timestamps;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A message as a row: encoded, and checked before anything is sent.
 *
 * @param headers as JSON; null if there are none
 * @param size of the payload, in bytes
 */
public record MessageRow(UUID id, Message message, @Nullable String headers, int size) {
    /**
     * @param serializer for bodies; null if there is none
     * @param maxPayload in bytes; more is refused
     * @param warnPayload in bytes; more is logged
     */
    public record Rules(@Nullable PayloadSerializer serializer, int maxPayload, int warnPayload) {}

    /** With an id that is derived from the message's own id, so that the row can be found by it. */
    public static MessageRow of(Message given, Rules rules) {
        return of(given, rules, MessageRow::id);
    }

    /** With a new id, if the row is found by other columns. */
    public static MessageRow withNewId(Message given, Rules rules) {
        return of(given, rules, message -> UuidV7.next());
    }

    private static MessageRow of(Message given, Rules rules, Function<Message, UUID> id) {
        Message message = CoreAccess.serialized(Require.present("message", given), rules.serializer());
        if (!message.hasPayload()) {
            throw new IllegalArgumentException("message to " + message.topic() + " has no payload; call payload(...),"
                    + " with an empty text if there is no content");
        }
        StorableText.check("topic", message.topic());
        StorableText.check("key", message.key());
        StorableText.check("id", message.id());
        StorableText.check("correlationId", message.correlationId());
        StorableText.check("tenantId", message.tenantId());
        StorableText.check("contentType", message.contentType());
        int size =
                message.isBinary() ? message.payloadBytes().length : StorableText.check("payload", message.payload());
        if (size > rules.maxPayload()) {
            throw new IllegalArgumentException("payload of the message to " + message.topic() + " has " + size
                    + " bytes, the limit is " + rules.maxPayload() + "; store it elsewhere and send a reference, or"
                    + " raise maxPayload(...)");
        }
        return new MessageRow(id.apply(message), message, headers(message), size);
    }

    private static @Nullable String headers(Message message) {
        String headers = HeadersText.write(message.headers());
        int size = StorableText.check("headers", headers);
        if (size > Message.MAX_HEADERS) {
            throw new IllegalArgumentException("headers of the message to " + message.topic() + " have " + size
                    + " bytes as JSON, the limit is " + Message.MAX_HEADERS + "; move large values into the payload");
        }
        return headers;
    }

    /** If the caller's id is a UUID, it is the id of the row; any other text always gives the same UUID. */
    private static UUID id(Message message) {
        String given = message.id();
        if (given == null) {
            return UuidV7.next();
        }
        if (given.length() == 36 && given.charAt(8) == '-') {
            try {
                UUID uuid = UUID.fromString(given);
                if (uuid.toString().equals(given)) {
                    return uuid;
                }
            } catch (IllegalArgumentException notAUuid) {
                return UuidV7.ofName(given);
            }
        }
        return UuidV7.ofName(given);
    }

    @Nullable
    public String text() {
        return message.isBinary() ? null : message.payload();
    }

    public byte @Nullable [] bytes() {
        return message.isBinary() ? message.payloadBytes() : null;
    }

    public String messageId() {
        String given = message.id();
        return given == null ? id.toString() : given;
    }

    /** With a message id even if it equals the id of the row, because old columns have both. */
    public MessageRow withMessageId() {
        return new MessageRow(id, message.id(messageId()), headers, size);
    }

    /** Sets the parameters that name the columns of one row. */
    public Query bind(Query query) throws SQLException {
        return query.set("id", id)
                .set("due", Timestamps.write(message.due()))
                .set("due_in", message.dueIn())
                .set("priority", (short) message.priority().code())
                .set("topic", message.topic())
                .set("key", message.key())
                .set("message_id", message.id())
                .set("correlation_id", message.correlationId())
                .set("tenant_id", message.tenantId())
                .set("content_type", message.contentType())
                .set("headers", headers)
                .set("payload", text())
                .set("payload_bytes", bytes());
    }

    /** Sets the parameters that name the columns of many rows, as arrays. */
    public static Query bindAll(Query query, List<MessageRow> rows) throws SQLException {
        return query.setArray("ids", "uuid", column(rows, MessageRow::id))
                .setArray("dues", "timestamptz", column(rows, r -> dueText(r.message.due())))
                .setArray("due_ins", "int8", column(rows, MessageRow::dueInMicros))
                .setArray("priorities", "int2", column(rows, MessageRow::unusualPriority))
                .setArray("topics", "text", column(rows, r -> r.message.topic()))
                .setArray("keys", "text", column(rows, r -> r.message.key()))
                .setArray("message_ids", "text", column(rows, r -> r.message.id()))
                .setArray("correlation_ids", "text", column(rows, r -> r.message.correlationId()))
                .setArray("tenant_ids", "text", column(rows, r -> r.message.tenantId()))
                .setArray("content_types", "text", column(rows, r -> r.message.contentType()))
                .setArray("headers", "text", column(rows, MessageRow::headers))
                .setArray("payloads", "text", column(rows, MessageRow::text))
                .setArray("payload_bytes", "bytea", column(rows, new byte[rows.size()][], MessageRow::bytes));
    }

    private static Object @Nullable [] column(List<MessageRow> rows, Function<MessageRow, @Nullable Object> field) {
        return column(rows, new Object[rows.size()], field);
    }

    /** Null if all values are null: the statement reads a missing array as nulls, and it costs nothing. */
    private static <T> T @Nullable [] column(
            List<MessageRow> rows, T[] column, Function<MessageRow, @Nullable T> field) {
        boolean any = false;
        for (int i = 0; i < column.length; i++) {
            column[i] = field.apply(rows.get(i));
            any |= column[i] != null;
        }
        return any ? column : null;
    }

    private static @Nullable String dueText(@Nullable Instant due) {
        return due == null ? null : due.toString();
    }

    /** Null stands for the normal priority. */
    private @Nullable Integer unusualPriority() {
        return message.priority() == Priority.NORMAL ? null : message.priority().code();
    }

    private @Nullable Long dueInMicros() {
        return message.dueIn() == null ? null : message.dueIn().toNanos() / 1_000;
    }

    /** To be called when the row was stored. */
    public void warnIfLarge(Rules rules, Logger log) {
        if (size > rules.warnPayload()) {
            log.warn(
                    "message {} to {} has a payload of {} bytes, more than warnPayload, {}",
                    messageId(),
                    message.topic(),
                    size,
                    rules.warnPayload());
        }
    }
}
