package dev.outbox.spi;

import dev.outbox.internal.Require;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a poller tells of itself now and then, for operators to see. Lengths of time, because a source may have another
 * clock.
 *
 * @param poller its name
 * @param version of this library
 * @param running since when it runs
 * @param sinceSuccess how long ago it last claimed without an error, even if it found nothing; null if it never did
 * @param lease how long its leases are
 * @param longestDelivery of those that were settled since it runs
 * @param lastError the last {@link Error} that it survived, in one line; null if there was none
 * @param sinceError how long ago that was; null if there was none
 * @param last whether it is about to stop, so that nobody misses it
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
