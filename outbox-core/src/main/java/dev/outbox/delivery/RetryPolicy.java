package dev.outbox.delivery;

import dev.outbox.internal.Require;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * When a failed item is retried, and when it is given up. The backoff is exponential with jitter: after the n-th failure
 * an item waits for a random time between half and all of {@code min(maxDelay, baseDelay · 2ⁿ⁻¹)}. So items that failed
 * together are not retried together, and no item is retried at once.
 *
 * @param baseDelay 1 ms to 1 day; default 1 s
 * @param maxDelay at least the base delay, at most 30 days; default 5 min
 * @param maxAttempts 1 to 1,000; default 10. An item that fails its last attempt becomes Dead.
 */
public record RetryPolicy(Duration baseDelay, Duration maxDelay, int maxAttempts) {
    private static final RetryPolicy DEFAULT = new RetryPolicy(Duration.ofSeconds(1), Duration.ofMinutes(5), 10);

    public RetryPolicy {
        Require.between("baseDelay", baseDelay, Duration.ofMillis(1), Duration.ofDays(1));
        Require.between("maxDelay", maxDelay, baseDelay, Duration.ofDays(30));
        Require.between("maxAttempts", maxAttempts, 1, 1_000);
    }

    /** 1 s doubling to 5 min, ten attempts. */
    public static RetryPolicy standard() {
        return DEFAULT;
    }

    public RetryPolicy baseDelay(Duration baseDelay) {
        return new RetryPolicy(baseDelay, maxDelay, maxAttempts);
    }

    public RetryPolicy maxDelay(Duration maxDelay) {
        return new RetryPolicy(baseDelay, maxDelay, maxAttempts);
    }

    public RetryPolicy maxAttempts(int maxAttempts) {
        return new RetryPolicy(baseDelay, maxDelay, maxAttempts);
    }

    /** True if an item that failed its n-th attempt is to be given up. */
    public boolean isExhausted(int attempt) {
        return attempt >= maxAttempts;
    }

    /** A random delay after the n-th failed attempt: at least half of the longest one. */
    public Duration delayAfter(int attempt) {
        long longest = ceilingAfter(attempt).toNanos();
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
    }

    /** The longest delay after the n-th failed attempt. */
    Duration ceilingAfter(int attempt) {
        int doublings = Math.max(0, attempt - 1);
        boolean capped = doublings >= 62 || baseDelay.toNanos() > maxDelay.toNanos() >> doublings;
        return capped ? maxDelay : Duration.ofNanos(baseDelay.toNanos() << doublings);
    }
}
