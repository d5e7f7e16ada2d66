package dev.outbox.admin;

import dev.outbox.Status;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How many items of a topic have a status.
 *
 * @param topic null for inbox records that were received and not enqueued
 * @param due how many of them are due, including those that wait behind an item of their key
 * @param oldestDue for how long the oldest due item has been due; null if none is
 */
public record TopicCount(
        @Nullable String topic,
        Status status,
        long items,
        long due,
        @Nullable Duration oldestDue) {}
