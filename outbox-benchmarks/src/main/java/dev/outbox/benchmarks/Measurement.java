package dev.outbox.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * The figures of one run; null where a figure does not apply or cannot be measured on this machine.
 *
 * @param idlePerMinute transactions of a poller that has nothing to deliver
 * @param databaseCpuMicros per message; of an idle poller per minute
 * @param walBytes likewise
 */
record Measurement(
        @Nullable Double perSecond,
        @Nullable Double p50Millis,
        @Nullable Double p99Millis,
        @Nullable Double maxMillis,
        @Nullable Double idlePerMinute,
        @Nullable Double databaseCpuMicros,
        @Nullable Double walBytes) {

    Measurement withLatency(double p50Millis, double p99Millis, double maxMillis) {
        return new Measurement(perSecond, p50Millis, p99Millis, maxMillis, idlePerMinute, databaseCpuMicros, walBytes);
    }
}
