package dev.outbox.testkit;

import dev.outbox.Message;
import dev.outbox.Priority;
import java.util.UUID;
import java.util.function.Predicate;

/** What a store may lack. A contract test that needs it is skipped then, by its name. */
public enum Feature {
    KEYS(message -> message.key() != null),
    PRIORITIES(message -> message.priority() != Priority.NORMAL),
    HEADERS(message -> !message.headers().isEmpty()),
    CONTENT_TYPES(message -> message.contentType() != null),
    TENANTS(message -> message.tenantId() != null),
    CORRELATION_IDS(message -> message.correlationId() != null),
    BINARY_PAYLOADS(message -> message.hasPayload() && message.isBinary()),
    /** Message ids that are no UUIDs. */
    ANY_MESSAGE_ID(message -> message.id() != null && !isUuid(message.id())),
    /** A number for each item, in the order in which they are fetched. */
    SEQUENCES(message -> false),
    /** An inbox tells messages of the same id apart by who sent them and by who receives them. */
    MANY_SOURCES(message -> false),
    /** An inbox counts how often each message came. */
    RECEIPT_COUNTS(message -> false);

    @SuppressWarnings("ImmutableEnumChecker") // they are functions of nothing but the message
    private final Predicate<Message> needs;

    Feature(Predicate<Message> needs) {
        this.needs = needs;
    }

    boolean isNeededBy(Message message) {
        return needs.test(message);
    }

    private static boolean isUuid(String text) {
        try {
            return UUID.fromString(text).toString().equals(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }
}
