package dev.outbox.admin;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How fast items become Done, by the last 10,000 that did and are still there.
 *
 * @param sample how many items this is about
 * @param perSecond over the last five minutes, or less if 10,000 took less
 * @param p50 half took at most so long from created to processed; null if none did
 */
public record Throughput(
        long sample,
        double perSecond,
        @Nullable Duration p50,
        @Nullable Duration p95,
        @Nullable Duration p99) {}
