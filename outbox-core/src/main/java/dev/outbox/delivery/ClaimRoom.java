package dev.outbox.delivery;

import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * How much more a poller may claim. It holds two batches at most, by count and by bytes: one is being delivered while the
 * next one waits.
 *
 * <p>Where there are several destinations, a route is <i>full</i> while it holds more than a batch, or more than half of
 * what is free; and a claim asks for at most half of what is free. So a route whose calls hang takes half of the room at
 * most, a second one half of the rest, and so on. The others go on with what is left. A fast route is full for a moment
 * only. The poller waits for that moment, because a claim without the topics of that route has to look past all of its
 * rows. If the route stays full, that claim is made.
 *
 * <p>Not thread-safe: only the claiming thread asks.
 */
final class ClaimRoom {
    /** How long a route has to be full until the others go on without it. */
    static final Duration PATIENCE = Duration.ofMillis(100);

    private final PollerOptions options;
    private final InFlight inFlight;
    private final RouteTable routes;

    private boolean isShort;
    private long shortSince;

    ClaimRoom(PollerContext context) {
        this.options = context.options();
        this.inFlight = context.inFlight();
        this.routes = context.routes();
    }

    /** What may be claimed now of all that is wanted, with batches of this size; null for nothing. */
    @Nullable
    ClaimRequest claim(ClaimRequest wanted, int batch) {
        return routes.areSeveral() ? shared(wanted, batch) : alone(wanted, batch);
    }

    private @Nullable ClaimRequest alone(ClaimRequest wanted, int batch) {
        InFlight.Held held = inFlight.all();
        isShort = held.items() > batch || held.bytes() > options.batchBytes();
        ClaimRequest claim = isShort ? null : routes.atFullSpeed(wanted);
        return claim == null ? null : claim.count(batch);
    }

    private @Nullable ClaimRequest shared(ClaimRequest wanted, int batch) {
        long freeItems = 2L * options.maxBatch() - inFlight.all().items();
        long freeBytes = 2L * options.batchBytes() - inFlight.all().bytes();
        long mostItems = 0;
        long mostBytes = 0;
        Set<Route> full = new HashSet<>();
        for (Route route : routes.destinations()) {
            InFlight.Held held = inFlight.of(route);
            if (held.items() > batch || 2L * held.items() > freeItems || 2 * held.bytes() > freeBytes) {
                full.add(route);
            } else {
                mostItems = Math.max(mostItems, held.items());
                mostBytes = Math.max(mostBytes, held.bytes());
            }
        }
        if (waitsFor(full)) {
            return null;
        }
        ClaimRequest claim = routes.atFullSpeed(wanted, full);
        long items = Math.min(Math.min(batch, freeItems), Math.max(1, (freeItems - mostItems) / 2));
        long bytes = Math.min(options.batchBytes(), (freeBytes - mostBytes) / 2);
        return claim == null || items < 1 || bytes < 1
                ? null
                : claim.count((int) items).maxBytes((int) bytes);
    }

    /** Whether to wait a little for these routes. */
    private boolean waitsFor(Set<Route> full) {
        long now = options.now();
        if (!isShort) {
            shortSince = now;
        }
        isShort = !full.isEmpty();
        return isShort && now - shortSince < PATIENCE.toNanos();
    }

    /** Whether there was no room for items of some route, so that the next settle may make some. */
    boolean isShort() {
        return isShort;
    }

    /** How long to wait for room before asking again. */
    Duration patience() {
        return routes.areSeveral() ? PATIENCE : options.lease();
    }
}
