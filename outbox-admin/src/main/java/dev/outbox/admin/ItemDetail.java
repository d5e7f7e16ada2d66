package dev.outbox.admin;

import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A work item with its headers, and its payload if that was asked for.
 *
 * @param payload null if it was not asked for, is binary, or there is none
 * @param payloadBase64 a binary payload in Base64; null if it was not asked for, is text, or there is none
 */
public record ItemDetail(
        Item item,
        Map<String, String> headers,
        @Nullable String contentType,
        @Nullable String payload,
        @Nullable String payloadBase64) {
    public ItemDetail {
        headers = Map.copyOf(headers);
    }

    /** A binary payload; null if it was not asked for, is text, or there is none. */
    public byte @Nullable [] payloadBytes() {
        return payloadBase64 == null ? null : Base64.getDecoder().decode(payloadBase64);
    }

    /** Describes the item without headers and payload, which may be confidential. */
    @Override
    public String toString() {
        return "ItemDetail[item=" + item + ", contentType=" + contentType + "]";
    }
}
