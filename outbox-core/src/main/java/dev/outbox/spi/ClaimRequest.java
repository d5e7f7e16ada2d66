package dev.outbox.spi;

import dev.outbox.internal.Require;
import java.time.Duration;
import java.util.Set;

/**
 * What a poller asks for.
 *
 * @param count the most items to lease, 1 to 10,000
 * @param lease how long the lease lasts, 10 ms to 1 day, by the source's clock
 * @param maxAttempts an item whose lease expired on this attempt becomes Dead instead of being leased again
 * @param topics only these; empty means all
 * @param owner the poller's name, for people to read
 */
public record ClaimRequest(int count, Duration lease, int maxAttempts, Set<String> topics, String owner) {
    public ClaimRequest {
        Require.between("count", count, 1, 10_000);
        Require.between("lease", lease, Duration.ofMillis(10), Duration.ofDays(1));
        Require.between("maxAttempts", maxAttempts, 1, 1_000_000);
        topics = Set.copyOf(topics);
        Require.text("owner", owner, 255);
    }

    public ClaimRequest count(int count) {
        return new ClaimRequest(count, lease, maxAttempts, topics, owner);
    }
}
