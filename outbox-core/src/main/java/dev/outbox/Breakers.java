package dev.outbox;

import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The breakers as one poller sees them: one per route where the destination routes by topic, else a single
 * one. Thread-safe.
 */
final class Breakers implements Breaker.Holder {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final PollerOptions options;
    private final Object destination;
    private final @Nullable ByTopic routes;
    private final SharedBreakers shared;
    private final Settler settler;
    private final Judge judge;
    private final Runnable onChange;
    private final Map<Object, Breaker> byRoute = new ConcurrentHashMap<>();

    /** Topics seen, for routes that take topics they do not name. */
    private final Set<String> topics = ConcurrentHashMap.newKeySet();

    Breakers(PollerOptions options, Object destination, SharedBreakers shared, Settler settler, Runnable onChange) {
        this.options = options;
        this.destination = destination;
        this.routes = ByTopic.of(destination);
        this.shared = shared;
        this.settler = settler;
        this.judge = new Judge(options);
        this.onChange = onChange;
    }

    /** To be told from now on when a destination is back. */
    void join() {
        shared.join(this);
    }

    Breaker of(WorkItem item) {
        topics.add(item.topic());
        return of(item.topic());
    }

    private Breaker of(String topic) {
        return ofRoute(routes == null ? destination : routes.routeOf(topic));
    }

    private Breaker ofRoute(Object route) {
        return byRoute.computeIfAbsent(route, one -> shared.of(one, options.breaker(), options.maxDeliveryTime()));
    }

    /** The destination answered: what was held back were faults of the items themselves. */
    void succeeded(WorkItem item, long started) {
        if (of(item).succeeded(started)) {
            LOG.info("poller {}: the destination of topic {} is back", options.name(), item.topic());
            options.emit(() -> new OutboxEvent.DestinationUp(options.name(), item.topic()));
            onChange.run();
            shared.wakeAll();
        }
    }

    void failed(Verdict verdict, Throwable cause) {
        WorkItem item = verdict.item();
        Breaker breaker = of(item);
        if (breaker.failed(this, judge.withRest(verdict), options.now())) {
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
        settler.wake(); // what is held back is to be settled in time
    }

    @Override
    public void count(List<Verdict> group) {
        settler.add(group);
    }

    @Override
    public void putOff(List<Verdict> group, Duration delay) {
        settler.add(judge.putOff(group, delay));
    }

    /** Puts off a run that may not be delivered now: its next item waits, and with it the rest. */
    void putOff(Run run, WorkItem next) {
        settler.add(judge.putOff(run, of(next).delay(options.now())));
    }

    void wake() {
        onChange.run();
    }

    /** Settles what was held back for long enough. */
    void settleOverdue() {
        byRoute.values().forEach(Breaker::countOverdue);
    }

    /** How long until there is something to settle that was held back for long enough. */
    long untilOverdue() {
        return byRoute.values().stream().mapToLong(Breaker::untilOverdue).min().orElse(Long.MAX_VALUE);
    }

    /** Settles all that is held back for this poller. */
    void settleHeld() {
        byRoute.values().forEach(breaker -> breaker.leave(this));
    }

    private @Nullable Breaker only() {
        return routes == null ? ofRoute(destination) : null;
    }

    /** Whether every delivery goes through one breaker that is open: then a single item is the next probe. */
    boolean isDown() {
        Breaker only = only();
        return only != null && only.isOpen();
    }

    /** Whether there is a destination to claim for: not if the only one is down and this is not the time to probe it. */
    boolean mayClaim() {
        Breaker only = only();
        return only == null || only.mayClaim(this, options.now());
    }

    /** How long a poller with a single destination must not claim; 0 if it may. */
    long pauseLeft() {
        Breaker only = only();
        return only == null ? 0 : only.pauseLeft(options.now());
    }

    /** How long an idle poller may sleep without missing the time to probe one of its routes. */
    long untilProbe() {
        long until = Long.MAX_VALUE;
        for (Breaker breaker : byRoute.values()) {
            if (breaker.isOpen()) {
                until = Math.min(until, breaker.delay(options.now()).toNanos());
            }
        }
        return until;
    }

    /** Topics not to claim for now, because their route is down. */
    Set<String> topicsDown() {
        if (routes == null) {
            return Set.of();
        }
        Set<String> down = new HashSet<>(topics);
        down.addAll(routes.topics());
        if (!options.topics().isEmpty()) {
            down.retainAll(options.topics());
        }
        down.removeIf(topic -> of(topic).mayClaim(this, options.now()));
        return down;
    }
}
