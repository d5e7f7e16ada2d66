package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.Priority;
import java.util.UUID;

/**
 * The features that a store may lack. A contract test that needs a missing feature is skipped, and the report names the
 * feature.
 */
public enum Feature {
    KEYS,
    PRIORITIES,
    HEADERS,
    CONTENT_TYPES,
    TENANTS,
    CORRELATION_IDS,
    BINARY_PAYLOADS,
    /** Message ids that are not UUIDs. */
    ANY_MESSAGE_ID,
    /** A number for each item, in the order in which they are fetched. */
    SEQUENCES,
    /** The time when each item was first due, even after retries changed its due time. */
    FIRST_DUE_TIMES,
    /** Claims end at their bound in bytes. */
    BYTE_BOUNDS,
    /** Items whose lease ran out more than once become claimable again at different times. */
    SPREAD_EXPIRY,
    /** The head of a key that was tried twice is claimed without the items behind it. */
    LONE_SUSPECTS,
    /** An inbox distinguishes messages with the same id by their source and by their consumer. */
    MANY_SOURCES,
    /** An inbox counts how often each message arrived. */
    RECEIPT_COUNTS;

    boolean isNeededBy(Message message) {
        return switch (this) {
            case KEYS -> message.key() != null;
            case PRIORITIES -> message.priority() != Priority.NORMAL;
            case HEADERS -> !message.headers().isEmpty();
            case CONTENT_TYPES -> message.contentType() != null;
            case TENANTS -> message.tenantId() != null;
            case CORRELATION_IDS -> message.correlationId() != null;
            case BINARY_PAYLOADS -> message.hasPayload() && message.isBinary();
            case ANY_MESSAGE_ID -> message.id() != null && !isUuid(message.id());
            case SEQUENCES, FIRST_DUE_TIMES, BYTE_BOUNDS, SPREAD_EXPIRY, LONE_SUSPECTS, MANY_SOURCES, RECEIPT_COUNTS ->
                false;
        };
    }

    private static boolean isUuid(String text) {
        try {
            return UUID.fromString(text).toString().equals(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
