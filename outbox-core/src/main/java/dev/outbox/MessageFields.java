package dev.outbox;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The optional fields of a {@link Message}. Each change is made on a copy. */
final class MessageFields implements Cloneable {
    @Nullable
    String id;

    @Nullable
    String key;

    @Nullable
    String text;

    byte @Nullable [] bytes;

    @Nullable
    Object body;

    @Nullable
    PayloadSerializer serializer;

    Map<String, String> headers = Map.of();

    @Nullable
    String correlationId;

    @Nullable
    String tenantId;

    @Nullable
    String contentType;

    Priority priority = Priority.NORMAL;

    @Nullable
    Instant due;

    @Nullable
    Duration dueIn;

    MessageFields copy() {
        try {
            return (MessageFields) super.clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
