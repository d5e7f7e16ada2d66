package dev.outbox.admin;

import dev.outbox.Status;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A work item as it is stored, without headers and payload. Times are those of the database's clock.
 *
 * @param topic null for an inbox record that was received and not enqueued
 * @param messageId the id on the wire
 * @param consumer the consumer of the item, in an inbox
 * @param source the sender of the message, in an inbox
 * @param attempts how often it was claimed since it was stored or requeued
 * @param dueOn when it is due; null if it was neither delayed nor attempted
 * @param processedOn when it became Done or Dead; null if it is neither, or became so before the migration
 * @param processedBy the poller that claimed it last
 * @param blocksKey whether it is Dead and blocks the later items of its key
 * @param error the last error
 */
public record Item(
        ItemRef ref,
        Status status,
        long sequence,
        @Nullable String topic,
        @Nullable String key,
        String messageId,
        @Nullable String correlationId,
        @Nullable String tenantId,
        @Nullable String consumer,
        @Nullable String source,
        int attempts,
        Instant createdOn,
        @Nullable Instant dueOn,
        @Nullable Instant processedOn,
        @Nullable String processedBy,
        boolean blocksKey,
        @Nullable String error) {}
