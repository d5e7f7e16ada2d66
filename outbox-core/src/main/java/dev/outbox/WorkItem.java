package dev.outbox;

import dev.outbox.internal.OneLine;
import dev.outbox.internal.Require;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A stored message, as a destination receives it. Immutable.
 *
 * @param id identifies the row; opaque
 * @param sequence its place in the fetch order, which the database assigned; a requeue may assign a new one
 * @param attempt which attempt this is, from 1; counted at claim, so that an attempt that kills its worker counts
 * @param createdOn when it was enqueued, by the database's clock
 * @param firstDueOn when it was first due, by the same clock; its age counts from then, however often a retry has
 *     changed its due time
 * @param source where an item of an inbox came from; null for an item of an outbox
 * @param message the enqueued message
 */
public record WorkItem(
        String id,
        long sequence,
        int attempt,
        Instant createdOn,
        Instant firstDueOn,
        @Nullable String source,
        Message message) {
    /** An item of an outbox that has been due since it was enqueued. */
    public WorkItem(String id, long sequence, int attempt, Instant createdOn, Message message) {
        this(id, sequence, attempt, createdOn, createdOn, null, message);
    }

    public WorkItem {
        Require.present("id", id);
        Require.present("createdOn", createdOn);
        Require.present("firstDueOn", firstDueOn);
        Require.present("message", message);
    }

    /** The id by which a consumer deduplicates: the same for all retries and redeliveries. */
    public String messageId() {
        String given = message.id();
        return given == null ? id : given;
    }

    public String topic() {
        return message.topic();
    }

    /** The ordering key, or null for an unordered item. */
    public @Nullable String key() {
        return message.key();
    }

    /** See {@link Message#payload()}. */
    public String payload() {
        return message.payload();
    }

    /** See {@link Message#payloadBytes()}. */
    public byte[] payloadBytes() {
        return message.payloadBytes();
    }

    /** See {@link Message#body(Class)}. */
    public <T> T body(Class<T> type) {
        return message.body(type);
    }

    /** The media type of the payload; null if neither the sender nor a serializer gave one, or the table does not store it. */
    public @Nullable String contentType() {
        return message.contentType();
    }

    public Map<String, String> headers() {
        return message.headers();
    }

    public @Nullable String correlationId() {
        return message.correlationId();
    }

    public @Nullable String tenantId() {
        return message.tenantId();
    }

    /** Describes the item without its payload or headers. */
    @Override
    public String toString() {
        return "WorkItem[id=" + OneLine.of(id) + ", topic=" + OneLine.of(topic()) + ", key=" + OneLine.of(key())
                + ", sequence=" + sequence + ", attempt=" + attempt + "]";
    }
}
