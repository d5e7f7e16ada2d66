package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.PayloadSerializer;
import dev.outbox.internal.HeadersText;
import dev.outbox.internal.Require;
import dev.outbox.internal.UuidV7;
import dev.outbox.jdbc.internal.StorableText;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What is stored of a message, encoded and checked before anything is sent.
 *
 * @param headers as JSON; null if there are none
 * @param size of the payload, in bytes
 */
record MessageRow(UUID id, Message message, @Nullable String headers, int size) {
    /**
     * @param serializer for bodies; null if there is none
     * @param maxPayload in bytes; more is refused
     * @param warnPayload in bytes; more is logged
     */
    record Rules(Ordering ordering, @Nullable PayloadSerializer serializer, int maxPayload, int warnPayload) {
        boolean strict() {
            return ordering == Ordering.STRICT;
        }
    }

    static MessageRow of(Message given, Rules rules) {
        Message message = Require.present("message", given).serializedBy(rules.serializer());
        if (!message.hasPayload()) {
            throw new IllegalArgumentException("message to " + message.topic() + " has no payload; call payload(...),"
                    + " with an empty text if there is nothing to say");
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
        return new MessageRow(id(message), message, headers(message), size);
    }

    private static @Nullable String headers(Message message) {
        String headers = HeadersText.write(message.headers());
        int size = StorableText.check("headers", headers);
        if (size > Message.MAX_HEADERS) {
            throw new IllegalArgumentException("headers of the message to " + message.topic() + " have " + size
                    + " bytes as JSON, the limit is " + Message.MAX_HEADERS + "; move what is large into the payload");
        }
        return headers;
    }

    /** A caller's id that is a UUID is the row's own; any other text always gives the same UUID. */
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
    String text() {
        return message.isBinary() ? null : message.payload();
    }

    byte @Nullable [] bytes() {
        return message.isBinary() ? message.payloadBytes() : null;
    }

    String messageId() {
        String given = message.id();
        return given == null ? id.toString() : given;
    }

    @Nullable
    Long dueInMicros() {
        return message.dueIn() == null ? null : message.dueIn().toNanos() / 1_000;
    }
}
