package dev.outbox.postgres;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How patient {@link PostgresNotify} is.
 *
 * @param apart the shortest time between two NOTIFYs; what comes in between goes with the next
 * @param linger how long the sender keeps its thread and connection with nothing to send
 * @param silence after so long without a notification the listener tests itself again
 * @param patience how long the listener waits for its own ping
 * @param firstRetry the pause after a failure; it doubles up to {@code silence}
 * @param longest the pause after a self-test that heard nothing doubles from {@code silence} up to this
 */
record NotifyTimes(
        Duration apart, Duration linger, Duration silence, Duration patience, Duration firstRetry, Duration longest) {

    static final NotifyTimes STANDARD = new NotifyTimes(
            Duration.ofMillis(10),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(3),
            Duration.ofMillis(100),
            Duration.ofMinutes(5));

    Duration retry(int failures) {
        return pause(firstRetry, silence, failures);
    }

    Duration retest(int failures) {
        return pause(silence, longest, failures);
    }

    /** With jitter in the upper half, so that nodes do not come back together. */
    private static Duration pause(Duration first, Duration last, int failures) {
        long ceiling = Math.min(last.toNanos(), first.toNanos() << Math.min(failures, 12));
        return Duration.ofNanos(ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1));
    }
}
