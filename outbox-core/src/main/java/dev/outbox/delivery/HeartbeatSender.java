package dev.outbox.delivery;

import dev.outbox.spi.Heartbeat;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the source twice a minute that the poller is alive. It does so on the thread that purges, so that no poll waits for
 * it. Failures in a row are logged once; the next heartbeat is sent at its time.
 */
final class HeartbeatSender {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /** Between two heartbeats. */
    static final Duration PERIOD = Duration.ofSeconds(30);

    /** Before the first one: a poller that is closed sooner is never listed. */
    static final Duration FIRST = Duration.ofSeconds(1);

    private static final long NEVER = Long.MIN_VALUE;

    private final PollerOptions options;
    private final AtomicLong longestDelivery = new AtomicLong();
    private volatile long started;
    private volatile long succeeded = NEVER;
    private volatile boolean reachable;
    private volatile @Nullable Survived survived;
    private boolean told;
    private boolean failed;

    HeartbeatSender(PollerOptions options) {
        this.options = options;
    }

    void start() {
        started = options.now();
    }

    void claimed() {
        succeeded = options.now();
        reachable = true;
    }

    void claimFailed() {
        reachable = false;
    }

    private record Survived(String error, long at) {}

    /** An error that the poller survived. */
    void survived(Throwable error) {
        survived = new Survived(ErrorText.of(error), options.now());
    }

    void delivered(Duration took) {
        longestDelivery.accumulateAndGet(took.toNanos(), Math::max);
    }

    void beat() {
        try {
            options.source().heartbeat(heartbeat(false));
            told = true;
            failed = false;
        } catch (RuntimeException e) {
            if (!failed) {
                LOG.warn("poller {}: could not send its heartbeat, will try again", options.name(), e);
            }
            failed = true;
        }
    }

    /**
     * Sends the last heartbeat, so that a closed poller is not reported as missing. But a close does not wait for a database that
     * cannot be reached.
     */
    void end() {
        if (told && reachable) {
            try {
                options.source().heartbeat(heartbeat(true));
            } catch (RuntimeException e) {
                LOG.debug("poller {}: could not send its last heartbeat", options.name(), e);
            }
        }
    }

    private Heartbeat heartbeat(boolean ending) {
        long now = options.now();
        long success = succeeded;
        Survived last = survived;
        return new Heartbeat(
                options.name(),
                version(),
                Duration.ofNanos(now - started),
                success == NEVER ? null : Duration.ofNanos(now - success),
                options.lease(),
                Duration.ofNanos(longestDelivery.get()),
                last == null ? null : last.error,
                last == null ? null : Duration.ofNanos(now - last.at),
                ending);
    }

    private static String version() {
        String version = Poller.class.getPackage().getImplementationVersion();
        return version == null ? "unknown" : version;
    }
}
