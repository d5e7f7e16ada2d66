package dev.outbox;

import dev.outbox.internal.CoreAccess;
import dev.outbox.internal.Require;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A message from elsewhere, as a consumer hands it to its inbox. Immutable: each method that sets something
 * returns a copy.
 *
 * <pre>{@code
 * Incoming.from("shop", record.messageId()).payload(record.value())
 * Incoming.from("shop", record.messageId()).topic("orders.placed").key(orderId).payload(json)
 * }</pre>
 *
 * <p>To be received, it needs a payload or a hash, and must not have a topic, key, due time or priority, because only a
 * handler uses those. To be enqueued, it needs a topic and a payload. Everything else is optional, and works as in
 * {@link Message}.
 */
public final class Incoming {
    /** How many bytes a hash has. */
    public static final int HASH_LENGTH = 32;

    /** Stands where no topic was given; never stored. */
    private static final String NO_TOPIC = "none";

    static {
        CoreAccess.checkReceivableBy(Incoming::checkReceivable);
    }

    private final String source;
    private final String messageId;
    private final boolean hasTopic;
    private final Message message;
    private final byte @Nullable [] hash;

    private Incoming(String source, String messageId, boolean hasTopic, Message message, byte @Nullable [] hash) {
        this.source = source;
        this.messageId = messageId;
        this.hasTopic = hasTopic;
        this.message = message;
        this.hash = hash;
    }

    /**
     * @param source the producer or queue that assigns the ids; ids of different sources never collide. 1 to 255
     *     characters, not blank
     * @param messageId the id the source gave the message, the same at each redelivery; 1 to 255 characters, not
     *     blank
     */
    public static Incoming from(String source, String messageId) {
        Require.text("source", source, Message.MAX_NAME);
        Require.text("messageId", messageId, Message.MAX_NAME);
        return new Incoming(source, messageId, false, Message.to(NO_TOPIC).id(messageId), null);
    }

    private Incoming with(UnaryOperator<Message> change) {
        return new Incoming(source, messageId, hasTopic, change.apply(message), hash);
    }

    /** The topic, which selects the handler; case-sensitive. Required for enqueue. Default: none. */
    public Incoming topic(String topic) {
        return new Incoming(source, messageId, true, message.withTopic(topic), hash);
    }

    /** See {@link Message#key}. */
    public Incoming key(@Nullable String key) {
        return with(m -> m.key(key));
    }

    /** A text payload; may be empty. Replaces a binary one. */
    public Incoming payload(String text) {
        return with(m -> m.payload(text));
    }

    /** A binary payload; may be empty. Replaces a text one. The array is copied. */
    public Incoming payload(byte[] bytes) {
        return with(m -> m.payload(bytes));
    }

    /**
     * The hash that distinguishes this message from a different one with the same id. Default: SHA-256 of the payload,
     * text as UTF-8. Give a hash of your own if the payload differs between redeliveries, for instance because it is
     * encrypted anew, or if more than the payload matters.
     *
     * @param hash exactly {@value #HASH_LENGTH} bytes; copied
     */
    public Incoming hash(byte[] hash) {
        byte[] copy = Require.present("hash", hash).clone();
        if (copy.length != HASH_LENGTH) {
            throw new IllegalArgumentException("hash must have " + HASH_LENGTH + " bytes, had " + copy.length
                    + "; take SHA-256 of what identifies the message");
        }
        return new Incoming(source, messageId, hasTopic, message, copy);
    }

    /** The type name of the payload, so that a handler can decode it by {@link WorkItem#body}. */
    public Incoming type(String type) {
        return header(PayloadSerializer.TYPE_HEADER, type);
    }

    /** Adds one header, or replaces the one of that name. */
    public Incoming header(String name, String value) {
        return with(m -> m.header(name, value));
    }

    /** Adds all of these headers. */
    public Incoming headers(Map<String, String> headers) {
        return with(m -> m.headers(headers));
    }

    /** See {@link Message#correlationId}. */
    public Incoming correlationId(@Nullable String correlationId) {
        return with(m -> m.correlationId(correlationId));
    }

    /** See {@link Message#tenantId}. */
    public Incoming tenantId(@Nullable String tenantId) {
        return with(m -> m.tenantId(tenantId));
    }

    /** The media type of the payload, for the handler. Default: none. */
    public Incoming contentType(@Nullable String contentType) {
        return with(m -> m.contentType(contentType));
    }

    /** Default: {@link Priority#NORMAL}. */
    public Incoming priority(Priority priority) {
        return with(m -> m.priority(priority));
    }

    /**
     * The earliest time to handle the message, by the database's clock. Default: at once. If the message has a key, this
     * delays the whole key.
     */
    public Incoming due(Instant due) {
        return with(m -> m.due(due));
    }

    /**
     * The shortest time from enqueue to handling, by the database's clock. If the message has a key, this delays the
     * whole key.
     */
    public Incoming dueIn(Duration delay) {
        return with(m -> m.dueIn(delay));
    }

    public String source() {
        return source;
    }

    public String messageId() {
        return messageId;
    }

    /** The topic, or null if it has none. */
    public @Nullable String topic() {
        return hasTopic ? message.topic() : null;
    }

    /**
     * A copy of the given hash, or SHA-256 of the payload.
     *
     * @throws IllegalArgumentException if there is neither, or the payload is text with an unpaired surrogate
     */
    public byte[] hash() {
        if (hash != null) {
            return hash.clone();
        }
        if (!message.hasPayload()) {
            throw new IllegalArgumentException("message " + messageId + " from " + source
                    + " has neither payload nor hash, so a different message with its id would not be recognised; call"
                    + " payload(...) or hash(...)");
        }
        try {
            MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
            sha256.update(content());
            return sha256.digest();
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Encodes strictly: otherwise, texts that differ only in a broken character would be the same bytes. */
    private ByteBuffer content() {
        if (message.isBinary()) {
            return ByteBuffer.wrap(message.payloadBytes());
        }
        try {
            return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(message.payload()));
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(
                    "the payload of message " + messageId + " from " + source
                            + " contains an unpaired surrogate, which is not a character; remove it, or give the payload"
                            + " as bytes",
                    e);
        }
    }

    private void checkReceivable() {
        refuse(hasTopic, "a topic", "topic");
        refuse(message.key() != null, "a key", "key");
        refuse(message.due() != null, "a due time", "due");
        refuse(message.dueIn() != null, "a due time", "dueIn");
        refuse(message.priority() != Priority.NORMAL, "a priority", "priority");
    }

    private void refuse(boolean given, String what, String method) {
        if (given) {
            throw new IllegalArgumentException("message " + messageId + " from " + source + " has " + what
                    + ", but receive(...) does not run a handler; call enqueue(...), or leave out " + method
                    + "(...)");
        }
    }

    /**
     * The message that an inbox stores for a handler. Inboxes call this method.
     *
     * @throws IllegalArgumentException if it has no topic
     */
    public Message message() {
        if (!hasTopic) {
            throw new IllegalArgumentException("message " + messageId + " from " + source
                    + " has no topic, so no handler can be found; call topic(...), or call receive(...) instead");
        }
        return message;
    }

    /** Describes the message without its payload or headers. */
    @Override
    public String toString() {
        return "Incoming[source=" + source + ", messageId=" + messageId + ", topic=" + topic() + "]";
    }
}
