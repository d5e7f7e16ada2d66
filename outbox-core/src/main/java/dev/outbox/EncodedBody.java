package dev.outbox;

import dev.outbox.internal.Require;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The body of a message as a {@link PayloadSerializer} writes and reads it: a type name, the media type, and
 * the content as text or as bytes. Immutable.
 */
public final class EncodedBody {
    private final String type;
    private final @Nullable String contentType;
    private final @Nullable String text;
    private final byte @Nullable [] bytes;

    private EncodedBody(String type, @Nullable String contentType, @Nullable String text, byte @Nullable [] bytes) {
        this.type = Require.text("type", type, Message.MAX_HEADER_VALUE);
        this.contentType = Require.optionalText("contentType", contentType, Message.MAX_NAME);
        this.text = text;
        this.bytes = bytes;
    }

    /**
     * @param type the type name
     * @param contentType the media type, or null if it is unknown
     */
    public static EncodedBody text(String type, @Nullable String contentType, String text) {
        return new EncodedBody(type, contentType, Require.present("text", text), null);
    }

    /**
     * @param type the type name
     * @param contentType the media type, or null if it is unknown
     * @param bytes the content; the array is copied
     */
    public static EncodedBody bytes(String type, @Nullable String contentType, byte[] bytes) {
        return new EncodedBody(
                type, contentType, null, Require.present("bytes", bytes).clone());
    }

    static EncodedBody of(Message message) {
        String type = message.headers().get(PayloadSerializer.TYPE_HEADER);
        if (type == null || type.isBlank()) {
            throw new PermanentFailureException("the body of the message to " + message.topic()
                    + " cannot be decoded, because it has no header " + PayloadSerializer.TYPE_HEADER
                    + "; read payload() instead");
        }
        return message.isBinary()
                ? bytes(type, message.contentType(), message.payloadBytes())
                : text(type, message.contentType(), message.payload());
    }

    /** A media type that the caller gave is kept. */
    Message into(Message message) {
        Message typed = message.header(PayloadSerializer.TYPE_HEADER, type);
        Message described = message.contentType() == null ? typed.contentType(contentType) : typed;
        return text != null ? described.payload(text) : described.payload(bytes());
    }

    /** The type name, on which both sides agree; never a class name. */
    public String type() {
        return type;
    }

    /** The media type of the content, or null if it is unknown. */
    public @Nullable String contentType() {
        return contentType;
    }

    public boolean isBinary() {
        return bytes != null;
    }

    /**
     * The content as text.
     *
     * @throws IllegalStateException if it is binary
     */
    public String text() {
        if (text == null) {
            throw new IllegalStateException("the content is binary; use bytes()");
        }
        return text;
    }

    /** The content as bytes: a copy of the binary one, or the text in UTF-8. */
    public byte[] bytes() {
        return bytes != null ? bytes.clone() : text().getBytes(StandardCharsets.UTF_8);
    }

    /** Describes the body without its content. */
    @Override
    public String toString() {
        return "EncodedBody[type=" + type + ", contentType=" + contentType + "]";
    }
}
