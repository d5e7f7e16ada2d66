package dev.outbox.admin;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A poller that tells of itself in the table {@code outbox_pollers}, every 30 seconds.
 *
 * @param version of the library
 * @param phase of the layout that it reads: 0 to 4, or {@code 3 settling}
 * @param silentFor how long ago it last told of itself
 * @param lastSuccess when it last reached the table
 * @param longestDelivery the longest it has seen since it started
 */
public record KnownPoller(
        String name,
        String version,
        String phase,
        Instant startedOn,
        Duration silentFor,
        @Nullable Instant lastSuccess,
        Duration lease,
        Duration longestDelivery) {}
