package dev.outbox;

import dev.outbox.internal.CoreAccess;
import dev.outbox.internal.OneLine;
import dev.outbox.internal.Require;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A message that a caller hands to the outbox. Immutable: each method that sets something returns a copy.
 *
 * <pre>{@code
 * Message.to("orders.placed").key(order.id()).payload(json).header("traceparent", trace)
 * }</pre>
 *
 * <p>A message needs a topic and a payload, or a body that becomes its payload when it is enqueued; everything
 * else is optional. Topic, key, ids and content type are 1 to 255 characters and not blank.
 */
public final class Message {
    /** The most characters a topic, key, id, correlation id, tenant id, content type or header name may have. */
    public static final int MAX_NAME = 255;

    /** The most characters the value of one header may have. */
    public static final int MAX_HEADER_VALUE = 8_192;

    /**
     * The most bytes all headers of a message may have together, as they are stored: a JSON object in UTF-8.
     * Checked at enqueue.
     */
    public static final int MAX_HEADERS = 65_536;

    private static final Instant EARLIEST_DUE = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LATEST_DUE = Instant.parse("9999-12-31T23:59:59Z");

    static {
        CoreAccess.toMessages(Message::serializedBy, Message::payloadSize);
    }

    private final String topic;
    private final MessageFields fields;

    private Message(String topic, MessageFields fields) {
        this.topic = topic;
        this.fields = fields;
    }

    /** @param topic routes the message; case-sensitive */
    public static Message to(String topic) {
        return new Message(Require.text("topic", topic, MAX_NAME), new MessageFields());
    }

    /** The same for another topic. */
    Message withTopic(String topic) {
        return new Message(Require.text("topic", topic, MAX_NAME), fields);
    }

    private Message with(Consumer<MessageFields> change) {
        MessageFields copy = fields.copy();
        change.accept(copy);
        return new Message(topic, copy);
    }

    /**
     * The id by which consumers deduplicate. Default: a new UUIDv7. Set an id of your own if you may repeat an enqueue
     * after an unknown outcome: the outbox recognises the repetition as long as the row exists.
     */
    public Message id(String id) {
        Require.text("id", id, MAX_NAME);
        return with(f -> f.id = id);
    }

    /**
     * The ordering key: messages of one key are delivered in the order they were committed, one at a time. Default:
     * none, unordered. A message that is not due yet, or is waiting for a retry, holds back the later ones of its key.
     */
    public Message key(@Nullable String key) {
        Require.optionalText("key", key, MAX_NAME);
        return with(f -> f.key = key);
    }

    /** A text payload; may be empty. Replaces a binary one, or a body. */
    public Message payload(String text) {
        Require.present("payload", text);
        return with(f -> {
            f.text = text;
            f.bytes = null;
            f.body = null;
        });
    }

    /** A binary payload; may be empty. Replaces a text one, or a body. The array is copied. */
    public Message payload(byte[] bytes) {
        byte[] copy = Require.present("payload", bytes).clone();
        return with(f -> {
            f.bytes = copy;
            f.text = null;
            f.body = null;
        });
    }

    /**
     * An object that the {@link PayloadSerializer} of the outbox encodes when the message is enqueued, in its state at
     * that time. The encoding sets the payload, the header {@value PayloadSerializer#TYPE_HEADER} and, unless one is
     * set, the content type. Replaces a payload.
     */
    public Message body(Object body) {
        Require.present("body", body);
        return with(f -> {
            f.body = body;
            f.text = null;
            f.bytes = null;
        });
    }

    private Message serializedBy(@Nullable PayloadSerializer serializer) {
        Object body = fields.body;
        if (body != null && serializer == null) {
            throw new IllegalArgumentException("message to " + topic + " has a body, but there is no serializer;"
                    + " set one with serializer(...), or encode the body yourself and call payload(...)");
        }
        Message message = body == null || serializer == null
                ? this
                : serializer.encode(body).into(this);
        return message.fields.serializer == serializer ? message : message.with(f -> f.serializer = serializer);
    }

    /** Adds one header, or replaces the one of that name. */
    public Message header(String name, String value) {
        checkHeader(name, value);
        return withHeaders(headers -> headers.put(name, value));
    }

    /** Adds all of these headers; each replaces an existing header of the same name. */
    public Message headers(Map<String, String> headers) {
        Require.present("headers", headers).forEach(Message::checkHeader);
        return withHeaders(all -> all.putAll(headers));
    }

    private static void checkHeader(String name, String value) {
        Require.text("header name", name, MAX_NAME);
        Require.present("header " + name, value);
        if (value.length() > MAX_HEADER_VALUE) {
            throw new IllegalArgumentException(
                    "header " + name + " must be at most " + MAX_HEADER_VALUE + " characters, was " + value.length());
        }
    }

    private Message withHeaders(Consumer<Map<String, String>> change) {
        Map<String, String> headers = new LinkedHashMap<>(fields.headers);
        change.accept(headers);
        return with(f -> f.headers = Collections.unmodifiableMap(headers));
    }

    /** An id that the messages of one business process share. Default: none. */
    public Message correlationId(@Nullable String correlationId) {
        Require.optionalText("correlationId", correlationId, MAX_NAME);
        return with(f -> f.correlationId = correlationId);
    }

    /** The tenant that the message belongs to, if one table serves several tenants. Default: none. */
    public Message tenantId(@Nullable String tenantId) {
        Require.optionalText("tenantId", tenantId, MAX_NAME);
        return with(f -> f.tenantId = tenantId);
    }

    /** The media type of the payload, for the destination. Default: none. */
    public Message contentType(@Nullable String contentType) {
        Require.optionalText("contentType", contentType, MAX_NAME);
        return with(f -> f.contentType = contentType);
    }

    /** Default: {@link Priority#NORMAL}. */
    public Message priority(Priority priority) {
        Require.present("priority", priority);
        return with(f -> f.priority = priority);
    }

    /**
     * The earliest time to deliver the message, by the database's clock. Default: at once. If the message has a key,
     * this delays the whole key.
     */
    public Message due(Instant due) {
        Require.present("due", due);
        if (due.isBefore(EARLIEST_DUE) || due.isAfter(LATEST_DUE)) {
            throw new IllegalArgumentException("due must be in the years 1 to 9999, was " + due);
        }
        return with(f -> {
            f.due = due;
            f.dueIn = null;
        });
    }

    /**
     * The shortest time from enqueue to delivery, by the database's clock. If the message has a key, this delays the
     * whole key.
     */
    public Message dueIn(Duration delay) {
        Require.notNegative("dueIn", delay);
        return with(f -> {
            f.due = null;
            f.dueIn = delay;
        });
    }

    public String topic() {
        return topic;
    }

    /** The id that the caller set; null if the outbox is to choose one. */
    public @Nullable String id() {
        return fields.id;
    }

    public @Nullable String key() {
        return fields.key;
    }

    /** True once a text or binary payload is set; false while a body waits to be encoded. */
    public boolean hasPayload() {
        return fields.text != null || fields.bytes != null;
    }

    public boolean isBinary() {
        return fields.bytes != null;
    }

    /**
     * The text payload.
     *
     * @throws IllegalStateException if the payload is binary or missing
     */
    public String payload() {
        if (fields.text == null) {
            throw new IllegalStateException(
                    isBinary() ? "the payload is binary; use payloadBytes()" : "the message has no payload");
        }
        return fields.text;
    }

    /**
     * The body. Before enqueue, it is the given object. After enqueue, each call decodes it from the payload, with the
     * serializer of the outbox or inbox that the message came from.
     *
     * @param type exactly the class the message's type name stands for
     * @throws UnknownTypeException if the type name is unknown
     * @throws PermanentFailureException if the type name is missing, or the payload does not fit it
     * @throws IllegalArgumentException if the body is of another class
     * @throws IllegalStateException if there is no serializer to decode the payload
     */
    public <T> T body(Class<T> type) {
        Require.present("type", type);
        Object body = fields.body;
        if (body != null) {
            if (body.getClass() != type) {
                throw new IllegalArgumentException("the body of the message to " + topic + " is a "
                        + body.getClass().getName() + ", not a " + type.getName());
            }
            return type.cast(body);
        }
        if (fields.serializer == null) {
            throw new IllegalStateException("the body of the message to " + topic
                    + " cannot be decoded without a serializer; set one with serializer(...), or read"
                    + " payload()");
        }
        return fields.serializer.decode(EncodedBody.of(this), type);
    }

    /**
     * The payload as bytes: a copy of the binary one, or the text in UTF-8.
     *
     * @throws IllegalStateException if the payload is missing
     */
    public byte[] payloadBytes() {
        return fields.bytes != null ? fields.bytes.clone() : payload().getBytes(StandardCharsets.UTF_8);
    }

    private int payloadSize() {
        if (fields.bytes != null) {
            return fields.bytes.length;
        }
        return fields.text == null ? 0 : fields.text.length();
    }

    /** The headers, in the order in which they were added; unmodifiable. */
    public Map<String, String> headers() {
        return fields.headers;
    }

    public @Nullable String correlationId() {
        return fields.correlationId;
    }

    public @Nullable String tenantId() {
        return fields.tenantId;
    }

    public @Nullable String contentType() {
        return fields.contentType;
    }

    public Priority priority() {
        return fields.priority;
    }

    public @Nullable Instant due() {
        return fields.due;
    }

    public @Nullable Duration dueIn() {
        return fields.dueIn;
    }

    /** Describes the message without its payload or headers. */
    @Override
    public String toString() {
        return "Message[topic=" + OneLine.of(topic) + ", id=" + OneLine.of(fields.id) + ", key="
                + OneLine.of(fields.key) + "]";
    }
}
