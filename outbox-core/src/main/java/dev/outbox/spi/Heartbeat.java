package dev.outbox.spi;

import dev.outbox.internal.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The state that a poller reports twice a minute for operators. Times are durations, because the source's clock may
 * differ.
 *
 * @param poller the poller's name
 * @param version the version of this library
 * @param running how long the poller has been running
 * @param sinceSuccess how long ago it last claimed without an error, even if it found nothing; null if it never did
 * @param lease the length of its leases
 * @param longestDelivery the longest delivery that was settled since it started
 * @param lastError the last {@link Error} that it survived, in one line; null if there was none
 * @param sinceError how long ago that error was; null if there was none
 * @param last whether the poller is about to stop, so that no further heartbeat is expected
 */
public record Heartbeat(
        String poller,
        String version,
        Duration running,
        @Nullable Duration sinceSuccess,
        Duration lease,
        Duration longestDelivery,
        @Nullable String lastError,
        @Nullable Duration sinceError,
        boolean last) {
    public Heartbeat {
        Require.present("poller", poller);
        Require.present("version", version);
        Require.present("running", running);
        Require.present("lease", lease);
        Require.present("longestDelivery", longestDelivery);
    }
}
