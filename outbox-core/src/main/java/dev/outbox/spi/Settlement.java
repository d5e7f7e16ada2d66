package dev.outbox.spi;

import dev.outbox.internal.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is to become of one leased item.
 *
 * @param delay for RETRY: how long until it is due again
 * @param error kept as the item's last error; null leaves what is there
 * @param attemptGivenBack whether the attempt counted at claim is taken off again
 */
public record Settlement(
        Lease lease, Kind kind, Duration delay, @Nullable String error, boolean attemptGivenBack) {

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
        if (error != null && error.length() > MAX_ERROR) {
            error = error.substring(0, MAX_ERROR);
        }
    }

    public static Settlement done(Lease lease) {
        return new Settlement(lease, Kind.DONE, Duration.ZERO, null, false);
    }

    public static Settlement retry(Lease lease, Duration delay, String error) {
        return new Settlement(lease, Kind.RETRY, delay, error, false);
    }

    /** A retry that counts as no attempt. */
    public static Settlement retryAfter(Lease lease, Duration delay, String error) {
        return new Settlement(lease, Kind.RETRY, delay, error, true);
    }

    public static Settlement dead(Lease lease, String error) {
        return new Settlement(lease, Kind.DEAD, Duration.ZERO, error, false);
    }

    /** @param delivered whether delivery had started: then the attempt stays counted */
    public static Settlement release(Lease lease, boolean delivered) {
        return new Settlement(lease, Kind.RELEASE, Duration.ZERO, null, !delivered);
    }
}
