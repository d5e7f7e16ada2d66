package dev.outbox;

import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The breakers of one poller: one per route where the destination routes by topic, else a single one.
 * Thread-safe.
 */
final class Breakers {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final PollerOptions options;
    private final @Nullable Routes routes;
    private final Settler settler;
    private final Judge judge;
    private final Runnable onChange;
    private final Map<Object, Breaker> byRoute = new ConcurrentHashMap<>();

    /** Topics seen, for routes that take topics they do not name. */
    private final Set<String> topics = ConcurrentHashMap.newKeySet();

    Breakers(PollerOptions options, @Nullable Routes routes, Settler settler, Runnable onChange) {
        this.options = options;
        this.routes = routes;
        this.settler = settler;
        this.judge = new Judge(options);
        this.onChange = onChange;
    }

    Breaker of(WorkItem item) {
        topics.add(item.topic());
        return of(item.topic());
    }

    private Breaker of(String topic) {
        Object route = routes == null ? this : routes.routeOf(topic);
        return byRoute.computeIfAbsent(route, r -> new Breaker(options.breaker(), options.maxDeliveryTime()));
    }

    /** The destination answered: what was held back were faults of the items themselves. */
    void succeeded(WorkItem item) {
        Breaker.Recovery recovery = of(item).succeeded();
        recovery.counted().forEach(settler::add);
        if (recovery.closed()) {
            LOG.info("poller {}: the destination of topic {} is back", options.name(), item.topic());
            options.emit(() -> new OutboxEvent.DestinationUp(options.name(), item.topic()));
            onChange.run();
        }
    }

    void failed(Verdict verdict, Throwable cause) {
        WorkItem item = verdict.item();
        Breaker breaker = of(item);
        Breaker.Consequence consequence = breaker.failed(judge.withRest(verdict), options.now());
        consequence.counted().forEach(settler::add);
        consequence.putOff().forEach(group -> settler.add(judge.putOff(group, delay(breaker))));
        if (consequence.opened()) {
            Duration pause = Duration.ofNanos(breaker.pauseLeft(options.now()));
            LOG.warn(
                    "poller {}: the destination of topic {} is down, {}; next try in {}",
                    options.name(),
                    item.topic(),
                    ErrorText.of(cause),
                    pause);
            options.emit(() -> new OutboxEvent.DestinationDown(options.name(), item.topic(), cause, pause));
        }
        if (breaker.isOpen()) {
            onChange.run();
        }
    }

    /** Puts off a run that may not be delivered now: its next item waits, and with it the rest. */
    void putOff(Run run, WorkItem next) {
        settler.add(judge.putOff(run, delay(of(next))));
    }

    private Duration delay(Breaker breaker) {
        Duration left = Duration.ofNanos(breaker.pauseLeft(options.now()));
        return left.compareTo(options.breaker().minPause()) < 0
                ? options.breaker().minPause()
                : left;
    }

    /** Settles what was held back for long enough, or all of it. */
    void settleHeld(boolean all) {
        byRoute.values().forEach(breaker -> breaker.overdue(all).forEach(settler::add));
    }

    /** Whether every delivery goes through one breaker that is open: then a single item is the next probe. */
    boolean isDown() {
        Breaker only = routes == null ? byRoute.get(this) : null;
        return only != null && only.isOpen();
    }

    /** Whether a poller with a single destination must not claim: its pause is not over, or a probe is under way. */
    boolean isShut() {
        Breaker only = routes == null ? byRoute.get(this) : null;
        return only != null && only.isShut(options.now());
    }

    /** How long a poller with a single destination must not claim; 0 if it may. */
    long pauseLeft() {
        Breaker only = routes == null ? byRoute.get(this) : null;
        return only == null ? 0 : only.pauseLeft(options.now());
    }

    /** Topics not to claim for now, because their route is down. */
    Set<String> topicsDown() {
        if (routes == null || byRoute.isEmpty()) {
            return Set.of();
        }
        Set<String> down = new HashSet<>();
        Set<String> known = new HashSet<>(topics);
        known.addAll(routes.topics());
        for (String topic : known) {
            if (of(topic).isShut(options.now())) {
                down.add(topic);
            }
        }
        return down;
    }
}
