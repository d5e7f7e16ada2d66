package dev.outbox.jdbc.internal.sql;

import java.time.Duration;

/**
 * How long the statements of one poller may wait for the network, by the length of its leases. Thread-safe.
 *
 * <p>Settles and renewals may take a third of a lease, so that there is time for another try on another connection. The
 * answer of a claim that takes longer than its lease is worthless, and everything else has as much time.
 */
public final class StatementLimits {
    /** A short lease does not make a busy database look like one that is gone. */
    private static final Duration LEAST = Duration.ofSeconds(5);

    /** Before the first claim. */
    private volatile Duration lease = Duration.ofSeconds(30);

    /** The length of the leases from now on. */
    public void lease(Duration length) {
        lease = length;
    }

    public Duration forSettle() {
        return atLeast(lease.dividedBy(3));
    }

    /** How long a settle in a handler's transaction may wait for a row that somebody else has locked. */
    public Duration forLock() {
        return lease.dividedBy(6);
    }

    public Duration forClaim() {
        return atLeast(lease);
    }

    private static Duration atLeast(Duration limit) {
        return limit.compareTo(LEAST) < 0 ? LEAST : limit;
    }
}
