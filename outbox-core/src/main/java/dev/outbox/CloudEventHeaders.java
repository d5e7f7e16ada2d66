package dev.outbox;

import dev.outbox.internal.Require;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Represents work items as CloudEvents 1.0 in binary mode: the payload is unchanged, and the attributes become headers.
 * {@code docs/reference/cloudevents.md} lists the mapping.
 *
 * <pre>{@code
 * CloudEventHeaders events = CloudEventHeaders.kafka(URI.create("https://shop.example/orders"));
 * events.of(item).forEach((name, value) -> record.headers().add(name, value.getBytes(UTF_8)));
 * }</pre>
 *
 * <p>Immutable and thread-safe.
 */
public final class CloudEventHeaders {
    private final String prefix;
    private final String source;
    private final UnaryOperator<String> encoding;

    private CloudEventHeaders(String prefix, URI source, UnaryOperator<String> encoding) {
        this.prefix = prefix;
        this.source = Require.present("source", source).toString();
        this.encoding = encoding;
        if (this.source.isEmpty()) {
            throw new IllegalArgumentException("source must not be empty: CloudEvents requires a URI that, together"
                    + " with the id, identifies an event");
        }
    }

    /**
     * The headers' names have the prefix {@code ce-}; their values are percent-encoded where HTTP requires it.
     *
     * @param source where the events come from, as an absolute URI if possible; together with the message id it
     *     identifies an event
     */
    public static CloudEventHeaders http(URI source) {
        return new CloudEventHeaders("ce-", source, CloudEventHeaders::percentEncoded);
    }

    /**
     * The headers' names have the prefix {@code ce_}; their values are not encoded, and must be written in UTF-8.
     *
     * @param source where the events come from, as an absolute URI if possible; together with the message id it
     *     identifies an event
     */
    public static CloudEventHeaders kafka(URI source) {
        return new CloudEventHeaders("ce_", source, UnaryOperator.identity());
    }

    /**
     * The headers that turn this item into a CloudEvent: the attributes and, if the item has a content type, {@code
     * content-type}. The item's own headers are not among them. Unmodifiable.
     *
     * @throws PermanentFailureException if a value contains a character that CloudEvents does not allow, such
     *     as a control character
     */
    public Map<String, String> of(WorkItem item) {
        Map<String, String> headers = new LinkedHashMap<>();
        String type = item.headers().get(PayloadSerializer.TYPE_HEADER);
        put(headers, "specversion", "1.0");
        put(headers, "id", item.messageId());
        put(headers, "source", source);
        put(headers, "type", type == null || type.isBlank() ? item.topic() : type);
        put(headers, "subject", item.key());
        put(headers, "time", item.createdOn().toString());
        put(headers, "partitionkey", item.key());
        String traceparent = item.headers().get("traceparent");
        if (traceparent != null) {
            put(headers, "traceparent", traceparent);
            put(headers, "tracestate", item.headers().get("tracestate"));
        }
        String contentType = item.contentType();
        if (contentType != null) {
            headers.put("content-type", allowed("datacontenttype", contentType));
        }
        return Collections.unmodifiableMap(headers);
    }

    private void put(Map<String, String> headers, String attribute, @Nullable String value) {
        if (value != null && !value.isEmpty()) {
            headers.put(prefix + attribute, encoding.apply(allowed(attribute, value)));
        }
    }

    private static String allowed(String attribute, String value) {
        int position = 0;
        while (position < value.length()) {
            int c = value.codePointAt(position);
            if (isForbidden(c)) {
                throw new PermanentFailureException("CloudEvents attribute " + attribute + " must not contain "
                        + String.format("U+%04X", c) + ", but does at position " + position);
            }
            position += Character.charCount(c);
        }
        return value;
    }

    /** Control characters, noncharacters and unpaired surrogates. */
    private static boolean isForbidden(int c) {
        return Character.isISOControl(c)
                || Character.getType(c) == Character.SURROGATE
                || (c & 0xFFFE) == 0xFFFE
                || (c >= 0xFDD0 && c <= 0xFDEF);
    }

    private static String percentEncoded(String value) {
        StringBuilder encoded = new StringBuilder(value.length());
        for (byte b : value.getBytes(StandardCharsets.UTF_8)) {
            if (b > ' ' && b < 0x7F && b != '"' && b != '%') {
                encoded.append((char) b);
            } else {
                encoded.append('%')
                        .append(Character.toUpperCase(Character.forDigit(b >> 4 & 0xF, 16)))
                        .append(Character.toUpperCase(Character.forDigit(b & 0xF, 16)));
            }
        }
        return encoded.toString();
    }
}
