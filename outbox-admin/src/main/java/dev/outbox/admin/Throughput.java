package dev.outbox.admin;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How fast items become Done, measured over the last 10,000 Done items that are still stored.
 *
 * @param sample how many items were measured
 * @param perSecond items per second, over the last five minutes or a shorter time that 10,000 items took
 * @param p50 the median of the time from created to processed; null if no item of the sample has both times
 */
public record Throughput(
        long sample,
        double perSecond,
        @Nullable Duration p50,
        @Nullable Duration p95,
        @Nullable Duration p99) {}
