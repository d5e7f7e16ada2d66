package dev.outbox;

import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims, again and again.
 *
 * <p>While items come, it claims as long as there is room: one batch being delivered and one waiting, so
 * that the next claim overlaps with delivery and settle. When nothing comes it waits, twice as long each
 * time, but not past the next due time, and starts afresh when it is woken. A source that fails is asked
 * again after a growing pause, for ever: a database that is down, at start or later, is only a pause.
 */
final class PollLoop {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);
    private static final Duration FIRST_BACKOFF = Duration.ofMillis(100);
    private static final Duration LAST_BACKOFF = Duration.ofSeconds(30);

    /** An idle poller asks for the next due time once in so many polls. */
    private static final int NEXT_DUE_EVERY = 10;

    /** No idle pause is shorter, not even if a source says that something is due when nothing can be claimed. */
    private static final long SHORTEST_IDLE = Duration.ofMillis(10).toNanos();

    /** With shorter idle pauses than this, a delayed item is noticed in time anyway. */
    private static final Duration LONG_IDLE = Duration.ofSeconds(2);

    private static final long NEVER = Long.MAX_VALUE;

    private final PollerOptions options;
    private final ClaimRequest request;
    private final BatchSize batchSize;
    private final InFlight inFlight;
    private final Breakers breakers;
    private final Consumer<List<Run>> deliver;
    private final Vitals vitals;
    private final Signal signal = new Signal();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final AtomicBoolean wantsRoom = new AtomicBoolean();
    private final AtomicLong ownDue = new AtomicLong(NEVER);

    private volatile boolean asksNextDue;
    private long idle;
    private int failures;
    private int sinceNextDue;
    private long probeClaimed = Long.MIN_VALUE / 2;
    private boolean knowsNextDue;
    private long nextDueAt;

    PollLoop(
            PollerOptions options,
            InFlight inFlight,
            Breakers breakers,
            int runsPerCall,
            Consumer<List<Run>> deliver,
            Vitals vitals) {
        this.options = options;
        this.request = options.claimRequest();
        int atOnce = Math.max(options.minBatch(), options.concurrency() * runsPerCall);
        this.batchSize = new BatchSize(Math.min(atOnce, options.maxBatch()), options.maxBatch());
        this.inFlight = inFlight;
        this.breakers = breakers;
        this.deliver = deliver;
        this.vitals = vitals;
        this.idle = options.minIdle().toNanos();
    }

    /** Poll now: something was enqueued, or a key has become free, or it is time to stop. */
    void wake() {
        woken.set(true);
        signal.ring();
    }

    /** Poll now: something was enqueued, which may also be due only later. */
    void enqueued() {
        if (options.maxIdle().compareTo(LONG_IDLE) > 0) {
            asksNextDue = true;
        }
        wake();
    }

    /** An item of our own will be due after this long: do not sleep past it. */
    void dueIn(Duration delay) {
        long due = options.now() + delay.toNanos();
        ownDue.accumulateAndGet(due, (known, other) -> known == NEVER || other - known < 0 ? other : known);
        signal.ring();
    }

    /** Something was settled; of interest only if the loop waits for room. */
    void madeRoom() {
        if (wantsRoom.get()) {
            wake();
        }
    }

    /** One round: claim or wait. */
    void round() {
        if (isPausing()) {
            return;
        }
        if (!hasRoom()) {
            wantsRoom.set(true);
            if (!hasRoom()) {
                signal.await(options.lease().toNanos());
            }
            wantsRoom.set(false);
            return;
        }
        Claim claim;
        try {
            batchSize.claims(options.now());
            claim = claim(batchSize.get());
            batchSize.claimed(claim.items().size());
            failures = 0;
            vitals.claimed();
        } catch (RuntimeException e) {
            vitals.claimFailed();
            backOff(e);
            return;
        }
        if (claim.more()) {
            idle = options.minIdle().toNanos();
        } else {
            idle();
        }
    }

    /** Waits while the only destination is down; it gets one item at a time, after each pause. */
    private boolean isPausing() {
        if (!breakers.isDown()) {
            return false;
        }
        long shortest = options.breaker().minPause().toNanos();
        long pause = Math.max(breakers.pauseLeft(), shortest - (options.now() - probeClaimed));
        if (pause > 0 || !breakers.mayClaim()) {
            signal.await(pause > 0 ? pause : shortest); // whoever probes wakes us if the destination is back
            return true;
        }
        probeClaimed = options.now();
        return false;
    }

    private boolean hasRoom() {
        return inFlight.size() <= batchSize.get();
    }

    private ClaimRequest request(int count) {
        ClaimRequest now = request.count(breakers.isDown() ? 1 : count);
        return now.except(breakers.topicsDown());
    }

    /** Claims up to so many, once, and hands over what came. */
    Claim claim(int count) {
        long start = options.now();
        Claim claim = options.source().claim(request(count));
        options.emit(() ->
                new OutboxEvent.Polled(options.name(), claim.items().size(), Duration.ofNanos(options.now() - start)));
        if (!claim.items().isEmpty()) {
            List<Run> runs = inFlight.add(claim, start + options.lease().toNanos());
            LOG.debug(
                    "poller {}: claimed {} items in {} runs",
                    options.name(),
                    claim.items().size(),
                    runs.size());
            options.emit(() ->
                    new OutboxEvent.Claimed(options.name(), claim.items(), Duration.ofNanos(options.now() - start)));
            deliver.accept(runs);
        }
        for (WorkItem dead : claim.dead()) {
            LOG.warn("poller {}: {} is Dead", options.name(), dead);
            options.emit(() -> new OutboxEvent.Dead(
                    options.name(),
                    dead,
                    "given up at claim: its lease expired on the last attempt, or it cannot be read"));
        }
        return claim;
    }

    private void idle() {
        long end = System.nanoTime() + idle;
        boolean dueChanged;
        do {
            long due = Math.min(Math.min(untilNextDue(), untilOwnDue()), breakers.untilProbe());
            long pause = Math.min(end - System.nanoTime(), due);
            dueChanged = signal.await(Math.max(SHORTEST_IDLE, pause)) && !woken.get();
        } while (dueChanged && System.nanoTime() - end < 0);
        idle = woken.getAndSet(false)
                ? options.minIdle().toNanos()
                : Math.min(2 * idle, options.maxIdle().toNanos());
    }

    /** From memory, but now and then from the source: an idle poller should cost next to nothing. */
    private long untilNextDue() {
        long now = options.now();
        if (asksNextDue || sinceNextDue++ % NEXT_DUE_EVERY == 0 || (knowsNextDue && nextDueAt - now <= 0)) {
            asksNextDue = false;
            sinceNextDue = 1;
            try {
                var next = options.source().nextDue(options.topics());
                knowsNextDue = next.isPresent();
                nextDueAt = now + next.orElse(Duration.ZERO).toNanos();
            } catch (RuntimeException e) {
                knowsNextDue = false; // the next claim will say what is wrong
            }
        }
        return knowsNextDue ? nextDueAt - now : Long.MAX_VALUE;
    }

    private long untilOwnDue() {
        long due = ownDue.get();
        if (due == NEVER) {
            return Long.MAX_VALUE;
        }
        long left = due - options.now();
        if (left <= 0 && ownDue.compareAndSet(due, NEVER)) {
            sinceNextDue = 0; // only the nearest was remembered; ask for the next
        }
        return left;
    }

    private void backOff(RuntimeException failure) {
        Duration pause = backoff(failures++);
        LOG.warn("poller {}: poll failed, trying again in {}", options.name(), pause, failure);
        options.emit(() -> new OutboxEvent.PollFailed(options.name(), failure, pause));
        signal.await(pause.toNanos());
    }

    /** Doubling, with jitter in the upper half, so that the nodes of a cluster do not come back together. */
    static Duration backoff(int failures) {
        long ceiling = Math.min(LAST_BACKOFF.toNanos(), FIRST_BACKOFF.toNanos() << Math.min(failures, 20));
        return Duration.ofNanos(ceiling / 2 + ThreadLocalRandom.current().nextLong(ceiling / 2 + 1));
    }
}
