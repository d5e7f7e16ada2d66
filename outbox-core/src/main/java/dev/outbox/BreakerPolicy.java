package dev.outbox;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * When a destination counts as down, and how it is probed then. While it is down its items wait: no attempt
 * is counted, nothing becomes Dead, and one delivery at a time finds out whether it is back.
 *
 * @param failures so many different items have failed in a row, and none has succeeded meanwhile; 1 to
 *     1,000, default 5. Fewer failing items are the items' own fault and use up their attempts; with 1 every
 *     failure is an outage until another item succeeds.
 * @param minPause before the first probe; 10 ms to 1 h, default 1 s
 * @param maxPause the pause doubles with each failed probe up to this; at most 1 day, default 30 s
 */
public record BreakerPolicy(int failures, Duration minPause, Duration maxPause) {
    private static final BreakerPolicy STANDARD = new BreakerPolicy(5, Duration.ofSeconds(1), Duration.ofSeconds(30));

    public BreakerPolicy {
        Require.between("failures", failures, 1, 1_000);
        Require.between("minPause", minPause, Duration.ofMillis(10), Duration.ofHours(1));
        Require.between("maxPause", maxPause, minPause, Duration.ofDays(1));
    }

    /** 5 failures, 1 s doubling to 30 s. */
    public static BreakerPolicy standard() {
        return STANDARD;
    }

    public BreakerPolicy failures(int failures) {
        return new BreakerPolicy(failures, minPause, maxPause);
    }

    public BreakerPolicy minPause(Duration minPause) {
        return new BreakerPolicy(failures, minPause, maxPause);
    }

    public BreakerPolicy maxPause(Duration maxPause) {
        return new BreakerPolicy(failures, minPause, maxPause);
    }
}
