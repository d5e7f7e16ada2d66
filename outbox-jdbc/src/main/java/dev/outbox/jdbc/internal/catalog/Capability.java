package dev.outbox.jdbc.internal.catalog;

import dev.outbox.Message;
import dev.outbox.Priority;
import java.util.UUID;

/** What a message may ask of a table that not every phase can hold. {@link Capabilities} says from when on a table has it. */
public enum Capability {
    /** The old column of the message id may be a UUID. */
    ANY_MESSAGE_ID("a message id that is not a UUID"),
    /** Before it the message id alone is the key of the table. */
    MANY_SOURCES("the same message id from several sources or for several consumers"),
    /** An outbox always had a column for it. */
    INBOX_CORRELATION("a correlation id in an inbox"),
    HEADERS("headers"),
    CONTENT_TYPE("a content type"),
    TENANT("a tenant"),
    PRIORITY("a priority"),
    /** Applications that claim by old predicates know no keys. */
    KEY("a key"),
    BINARY_PAYLOAD("a binary payload");

    private final String what;

    Capability(String what) {
        this.what = what;
    }

    /** As an error names it. */
    public String what() {
        return what;
    }

    /** Whether this message asks for it; {@link #MANY_SOURCES} no message asks for alone. */
    boolean isAskedForBy(Message message) {
        return switch (this) {
            case ANY_MESSAGE_ID -> message.id() != null && !isUuid(message.id());
            case MANY_SOURCES -> false;
            case INBOX_CORRELATION -> message.correlationId() != null;
            case HEADERS -> !message.headers().isEmpty();
            case CONTENT_TYPE -> message.contentType() != null;
            case TENANT -> message.tenantId() != null;
            case PRIORITY -> message.priority() != Priority.NORMAL;
            case KEY -> message.key() != null;
            case BINARY_PAYLOAD -> message.isBinary();
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
