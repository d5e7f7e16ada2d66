package dev.outbox.spi;

import dev.outbox.OnDead;
import dev.outbox.internal.Require;
import java.time.Duration;
import java.util.Set;

/**
 * The items that a poller asks for, and how they are leased.
 *
 * @param count the maximum number of items to lease, 1 to 10,000
 * @param maxBytes the claim ends with the item whose payload brings the sum to this many bytes, at least 1
 * @param lease how long the lease lasts, 10 ms to 1 day, by the source's clock
 * @param maxAttempts an item whose lease expired on this attempt becomes Dead instead of being leased again
 * @param topics claim only these; empty means all
 * @param except do not claim these topics now: their destination accepts nothing
 * @param onDead whether an item that becomes Dead at this claim blocks its key
 * @param owner the poller's name, stored for operators
 */
public record ClaimRequest(
        int count,
        int maxBytes,
        Duration lease,
        int maxAttempts,
        Set<String> topics,
        Set<String> except,
        OnDead onDead,
        String owner) {
    public ClaimRequest {
        Require.between("count", count, 1, 10_000);
        Require.between("maxBytes", maxBytes, 1, Integer.MAX_VALUE);
        Require.between("lease", lease, Duration.ofMillis(10), Duration.ofDays(1));
        Require.between("maxAttempts", maxAttempts, 1, 1_000_000);
        topics = Set.copyOf(topics);
        except = Set.copyOf(except);
        Require.present("onDead", onDead);
        Require.text("owner", owner, 255);
    }

    /** The usual number of bytes, 16 MiB. */
    public static final int STANDARD_BYTES = 16 << 20;

    /** A request for up to {@link #STANDARD_BYTES} that excepts no topic; Dead items do not block their key. */
    public ClaimRequest(int count, Duration lease, int maxAttempts, Set<String> topics, String owner) {
        this(count, STANDARD_BYTES, lease, maxAttempts, topics, Set.of(), OnDead.SKIP, owner);
    }

    public ClaimRequest count(int count) {
        return new ClaimRequest(count, maxBytes, lease, maxAttempts, topics, except, onDead, owner);
    }

    public ClaimRequest maxBytes(int maxBytes) {
        return new ClaimRequest(count, maxBytes, lease, maxAttempts, topics, except, onDead, owner);
    }

    /** The same request for only these topics; empty means all. */
    public ClaimRequest topics(Set<String> topics) {
        return topics.equals(this.topics)
                ? this
                : new ClaimRequest(count, maxBytes, lease, maxAttempts, topics, except, onDead, owner);
    }

    public ClaimRequest onDead(OnDead onDead) {
        return new ClaimRequest(count, maxBytes, lease, maxAttempts, topics, except, onDead, owner);
    }

    public ClaimRequest except(Set<String> except) {
        return except.equals(this.except)
                ? this
                : new ClaimRequest(count, maxBytes, lease, maxAttempts, topics, except, onDead, owner);
    }

    /** Whether this request is for items of this topic. */
    public boolean wants(String topic) {
        return (topics.isEmpty() || topics.contains(topic)) && !except.contains(topic);
    }
}
