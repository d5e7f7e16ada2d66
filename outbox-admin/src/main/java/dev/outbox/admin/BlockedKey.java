package dev.outbox.admin;

import dev.outbox.Status;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A key whose items wait behind its head: a Dead item that blocks the key, or an item that failed and backs off.
 *
 * @param consumer the consumer of the items, in an inbox
 * @param head the item that the others wait for
 * @param status the status of the head: {@link Status#DEAD} needs an operator, {@link Status#READY} is retried at dueOn
 * @param waiting how many items wait, counted up to 1,000
 * @param error the last error of the head
 */
public record BlockedKey(
        String key,
        @Nullable String consumer,
        ItemRef head,
        Status status,
        int attempts,
        @Nullable Instant dueOn,
        long waiting,
        @Nullable String error) {}
