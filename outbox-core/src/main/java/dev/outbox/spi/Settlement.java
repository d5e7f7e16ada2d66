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
 * @param attemptsGivenBack how many attempts are taken off again, the one counted at claim included
 * @param onDead for DEAD: whether the item blocks its key
 */
public record Settlement(
        Lease lease, Kind kind, Duration delay, @Nullable String error, int attemptsGivenBack, OnDead onDead) {

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
        Require.between("attemptsGivenBack", attemptsGivenBack, 0, Integer.MAX_VALUE);
        Require.present("onDead", onDead);
        if (error != null && error.length() > MAX_ERROR) {
            error = error.substring(0, MAX_ERROR);
        }
    }

    public static Settlement done(Lease lease) {
        return new Settlement(lease, Kind.DONE, Duration.ZERO, null, 0, OnDead.SKIP);
    }

    public static Settlement retry(Lease lease, Duration delay, String error) {
        return retry(lease, delay, error, 0);
    }

    /** A retry that gives this many attempts back; with one it counts as no attempt. */
    public static Settlement retry(Lease lease, Duration delay, String error, int attemptsGivenBack) {
        return new Settlement(lease, Kind.RETRY, delay, error, attemptsGivenBack, OnDead.SKIP);
    }

    /** Dead, and skipped by its key. */
    public static Settlement dead(Lease lease, String error) {
        return dead(lease, error, OnDead.SKIP);
    }

    public static Settlement dead(Lease lease, String error, OnDead onDead) {
        return new Settlement(lease, Kind.DEAD, Duration.ZERO, error, 0, onDead);
    }

    /** @param delivered whether delivery had started: then the attempt stays counted */
    public static Settlement release(Lease lease, boolean delivered) {
        return new Settlement(lease, Kind.RELEASE, Duration.ZERO, null, delivered ? 0 : 1, OnDead.SKIP);
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
