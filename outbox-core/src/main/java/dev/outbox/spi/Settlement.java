package dev.outbox.spi;

import dev.outbox.OnDead;
import dev.outbox.internal.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is to become of one leased item.
 *
 * @param delay for RETRY: how long until it is due again
 * @param error kept as the item's last error; null leaves what is there
 * @param attemptGivenBack whether the attempt counted at claim is taken off again
 * @param onDead for DEAD: whether the item blocks its key
 */
public record Settlement(
        Lease lease, Kind kind, Duration delay, @Nullable String error, boolean attemptGivenBack, OnDead onDead) {

    /** Longer errors are cut. */
    public static final int MAX_ERROR = 2_000;

    /** The four ends of a lease. */
    public enum Kind {
        /** Delivered. */
        DONE,
        /** Ready again, due after the delay. */
        RETRY,
        /** Given up. */
        DEAD,
        /** Ready again at once, as if it had not been claimed. */
        RELEASE
    }

    public Settlement {
        Require.present("lease", lease);
        Require.present("kind", kind);
        Require.notNegative("delay", delay);
        Require.present("onDead", onDead);
        if (error != null && error.length() > MAX_ERROR) {
            error = error.substring(0, MAX_ERROR);
        }
    }

    public static Settlement done(Lease lease) {
        return new Settlement(lease, Kind.DONE, Duration.ZERO, null, false, OnDead.SKIP);
    }

    public static Settlement retry(Lease lease, Duration delay, String error) {
        return new Settlement(lease, Kind.RETRY, delay, error, false, OnDead.SKIP);
    }

    /** A retry that counts as no attempt. */
    public static Settlement retryAfter(Lease lease, Duration delay, String error) {
        return new Settlement(lease, Kind.RETRY, delay, error, true, OnDead.SKIP);
    }

    /** Dead, and skipped by its key. */
    public static Settlement dead(Lease lease, String error) {
        return dead(lease, error, OnDead.SKIP);
    }

    public static Settlement dead(Lease lease, String error, OnDead onDead) {
        return new Settlement(lease, Kind.DEAD, Duration.ZERO, error, false, onDead);
    }

    /** @param delivered whether delivery had started: then the attempt stays counted */
    public static Settlement release(Lease lease, boolean delivered) {
        return new Settlement(lease, Kind.RELEASE, Duration.ZERO, null, !delivered, OnDead.SKIP);
    }

    /** Whether this holds back the later items of its key: it is Ready again, or Dead and blocks them. */
    public boolean holdsBackItsKey() {
        return switch (kind) {
            case RETRY, RELEASE -> true;
            case DEAD -> onDead == OnDead.BLOCK;
            case DONE -> false;
        };
    }
}
