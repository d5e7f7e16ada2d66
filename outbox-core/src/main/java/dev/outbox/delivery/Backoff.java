package dev.outbox.delivery;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** How long to wait before a source that failed is asked again. */
final class Backoff {
    private static final Duration FIRST = Duration.ofMillis(100);
    private static final Duration LAST = Duration.ofSeconds(30);

    private Backoff() {}

    /** Doubling, with jitter in the upper half, so that the nodes of a cluster do not come back together. */
    static Duration after(int failures) {
        long ceiling = Math.min(LAST.toNanos(), FIRST.toNanos() << Math.min(failures, 20));
        return Duration.ofNanos(ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1));
    }
}
