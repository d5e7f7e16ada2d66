package dev.outbox.migrations.internal;

import dev.outbox.jdbc.Phase;
import java.time.Duration;

/**
 * How an upgrade treats the applications that work the table meanwhile.
 *
 * @param lockTimeout how long a change waits for a lock
 * @param patience for how long a change is tried again
 * @param refreshInterval how often applications look for the phase
 * @param quietFor how long no application may have written old columns alone
 */
public record UpgradeOptions(Duration lockTimeout, Duration patience, Duration refreshInterval, Duration quietFor) {
    /** PostgreSQL asks an autovacuum that is in the way to leave after a second of waiting ({@code deadlock_timeout}). */
    private static final Duration LOCK_TIMEOUT = Duration.ofMillis(1_300);

    public static UpgradeOptions defaults() {
        return new UpgradeOptions(LOCK_TIMEOUT, Duration.ofMinutes(5), Phase.REFRESH_INTERVAL, Duration.ofMinutes(10));
    }

    /** How long it takes until every application has noticed a phase. */
    public Duration noticed() {
        return refreshInterval.multipliedBy(2);
    }
}
