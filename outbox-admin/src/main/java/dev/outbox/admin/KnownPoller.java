package dev.outbox.admin;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A poller that tells of itself in the table {@code outbox_pollers}, every 30 seconds.
 *
 * @param version of the library
 * @param phase of the layout that it reads: 0 to 4, or {@code 3 renaming}
 * @param silentFor how long ago it last told of itself
 * @param lastSuccess when it last reached the table
 * @param longestDelivery the longest it has seen since it started
 * @param lastErrorOn when it last survived an {@link Error}; null if it survived none since it started
 * @param lastError that error, in one line
 */
public record KnownPoller(
        String name,
        String version,
        String phase,
        Instant startedOn,
        Duration silentFor,
        @Nullable Instant lastSuccess,
        Duration lease,
        Duration longestDelivery,
        @Nullable Instant lastErrorOn,
        @Nullable String lastError) {
    /** How long after an error somebody should look. */
    private static final Duration RECENT = Duration.ofHours(1);

    boolean hasRecentError(Instant now) {
        return lastErrorOn != null && lastErrorOn.isAfter(now.minus(RECENT));
    }
}
