package dev.outbox.admin;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A poller as it reports itself in the table {@code outbox_pollers}, every 30 seconds.
 *
 * @param version the version of the library
 * @param phase the phase of the layout that it reads: 0 to 4, or {@code 3 renaming}
 * @param silentFor how long ago it last reported itself
 * @param lastSuccess when it last claimed successfully
 * @param longestDelivery its longest delivery since it started
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
    /** How long after an error it is reported as trouble. */
    private static final Duration RECENT = Duration.ofHours(1);

    boolean hasRecentError(Instant now) {
        return lastErrorOn != null && lastErrorOn.isAfter(now.minus(RECENT));
    }
}
