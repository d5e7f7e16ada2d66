package dev.outbox.testkit;

import dev.outbox.Status;
import org.jspecify.annotations.Nullable;

/**
 * One work item as assertions see it.
 *
 * @param finished its place among the finished items, in the order they were finished; several may share one. 0 while it is
 *     not finished
 * @param waits whether it is not due yet, or leased, so that nothing is expected to happen to it now
 */
record ItemRow(
        long sequence,
        String messageId,
        String topic,
        @Nullable String key,
        Status status,
        int attempts,
        long finished,
        boolean waits,
        @Nullable String lastError) {}
