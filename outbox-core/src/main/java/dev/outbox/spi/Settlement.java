package dev.outbox.spi;

import dev.outbox.OnDead;
import dev.outbox.internal.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the lease of one item ends.
 *
 * @param delay for RETRY: how long until it is due again
 * @param error stored as the item's last error; null keeps the existing one
 * @param attemptsGivenBack how many attempts are subtracted from the count, including the one counted at the claim
 * @param onDead for DEAD: whether the item blocks its key
 */
public record Settlement(
        Lease lease, Kind kind, Duration delay, @Nullable String error, int attemptsGivenBack, OnDead onDead) {

    /** The most characters that an error may have; a longer one is cut. */
    public static final int MAX_ERROR = 2_000;

    /** How a lease can end. */
    public enum Kind {
        /** The item was delivered. */
        DONE,
        /** The item is Ready again, and due after the delay. */
        RETRY,
        /** The item is given up. */
        DEAD,
        /** The item is Ready again at once, as if it had not been claimed. */
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

    /** A retry that gives back this many attempts; if that is one, this attempt does not count. */
    public static Settlement retry(Lease lease, Duration delay, String error, int attemptsGivenBack) {
        return new Settlement(lease, Kind.RETRY, delay, error, attemptsGivenBack, OnDead.SKIP);
    }

    /** The item is Dead, and does not block its key. */
    public static Settlement dead(Lease lease, String error) {
        return dead(lease, error, OnDead.SKIP);
    }

    public static Settlement dead(Lease lease, String error, OnDead onDead) {
        return new Settlement(lease, Kind.DEAD, Duration.ZERO, error, 0, onDead);
    }

    /** @param delivered whether delivery had begun: then the attempt stays counted */
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
