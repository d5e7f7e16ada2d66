package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims, again and again.
 *
 * <p>While items come, it claims as long as there is room: one batch being delivered and one waiting, so
 * that the next claim overlaps with delivery and settle. When nothing comes it waits, twice as long each
 * time, but not past the next due time, and starts afresh when it is woken. A source that fails is asked
 * again after a growing pause, for ever: a database that is down, at start or later, is only a pause.
 *
 * <p>A claim that found something is followed by another one, unless the source says that it has seen everything and wake-ups
 * can be relied on: see {@link Announcements}.
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

    /** How often in a row a source is asked that finds nothing and says that there may be more. */
    private static final int MOST_EMPTY_CLAIMS = 100;

    /** Of how many items those are chosen in an outage; when bad messages may be to blame, of a full batch. */
    private static final int MOST_CHOICES = 50;

    private static final long NEVER = Long.MAX_VALUE;

    private final PollerOptions options;
    private final ClaimRequest request;
    private final BatchSize batchSize;
    private final InFlight inFlight;
    private final RouteTable routes;
    private final ClaimRoom room;
    private final FailureLog log;
    private final boolean probesOneByOne;
    private final Consumer<List<Run>> deliver;
    private final Consumer<Run> giveBack;
    private final HeartbeatSender vitals;
    private final Announcements announcements;
    private final Signal signal = new Signal();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final AtomicBoolean wantsRoom = new AtomicBoolean();
    private final AtomicLong ownDue = new AtomicLong(NEVER);

    private volatile boolean asksNextDue;
    private long idle;
    private int failures;
    private int emptyClaims;
    private int sinceNextDue;
    private boolean knowsNextDue;

    /** Counts the claims of this loop. */
    private final AtomicLong claims = new AtomicLong();

    /** Whether the last claim was not for all topics. */
    private boolean leavesOut;

    private long nextDueAt;

    PollLoop(
            PollerOptions options,
            InFlight inFlight,
            RouteTable routes,
            FailureLog log,
            int runsPerCall,
            Consumer<List<Run>> deliver,
            Consumer<Run> giveBack,
            HeartbeatSender vitals) {
        this.options = options;
        this.request = options.claimRequest();
        int atOnce = Math.max(options.minBatch(), options.concurrency() * runsPerCall);
        this.batchSize = new BatchSize(Math.min(atOnce, options.maxBatch()), options.maxBatch());
        this.inFlight = inFlight;
        this.routes = routes;
        this.room = new ClaimRoom(options, inFlight, routes);
        this.log = log;
        this.probesOneByOne = runsPerCall == 1;
        this.deliver = deliver;
        this.giveBack = giveBack;
        this.vitals = vitals;
        this.idle = options.minIdle().toNanos();
        this.announcements = new Announcements(options::now);
    }

    /** Poll now: something was enqueued, or a key has become free, or it is time to stop. */
    void wake() {
        woken.set(true);
        signal.ring();
    }

    /** Poll now: something was enqueued, which may also be due only later. */
    void enqueued() {
        announcements.announced();
        if (options.maxIdle().compareTo(LONG_IDLE) > 0) {
            asksNextDue = true;
        }
        wake();
    }

    /** An item of our own will be due after this long: do not sleep past it. */
    void dueIn(Duration delay) {
        long due = options.now() + delay.toNanos();
        long known = ownDue.getAndAccumulate(due, PollLoop::earlier);
        if (earlier(known, due) != known) {
            signal.ring();
        }
    }

    private static long earlier(long known, long due) {
        return known == NEVER || due - known < 0 ? due : known;
    }

    /** Whether a claim waits until something is settled. */
    boolean wantsRoom() {
        return wantsRoom.get();
    }

    /** Something was settled; of interest only if the loop waits for room. */
    void madeRoom() {
        if (wantsRoom.get()) {
            wake();
        }
    }

    /**
     * A run of a key was settled, so that what came for the key meanwhile can be claimed. Nothing came if the claim of the
     * run had seen everything and nothing has led to another claim since.
     */
    void freedKey(Run run) {
        if (run.claimHadMore() || run.claimNumber() != claims.get() || woken.get() || !announcements.areComplete()) {
            wake();
        }
    }

    /** One round: claim or wait. */
    void round() {
        if (!probe()) {
            return;
        }
        wantsRoom.set(true); // before looking, so that room made meanwhile is not missed
        ClaimRequest now = room.claim(request, batchSize.get());
        if (now == null) {
            long patience = Math.min(room.patience().toNanos(), routes.untilCall());
            signal.await(Math.max(SHORTEST_IDLE, patience));
            return;
        }
        wantsRoom.set(room.isShort());
        leavesOut = !now.topics().equals(request.topics()) || !now.except().isEmpty();
        boolean announced = woken.getAndSet(false);
        Claim claim;
        try {
            batchSize.claims(options.now());
            claim = claim(now, UnaryOperator.identity());
            batchSize.claimed(claim.items().size(), now.count());
            if (!announced && claim.items().stream().anyMatch(item -> item.attempt() == 1)) {
                announcements.foundUnannounced();
            }
            failures = 0;
            vitals.claimed();
        } catch (RuntimeException e) {
            vitals.claimFailed();
            backOff(e);
            return;
        }
        boolean found = !claim.items().isEmpty();
        emptyClaims = found ? 0 : emptyClaims + 1;
        boolean more = claim.more() && emptyClaims < MOST_EMPTY_CLAIMS;
        if (found || more) {
            idle = options.minIdle().toNanos();
        }
        if (!more && !(found && !announcements.areComplete())) {
            emptyClaims = 0;
            idle();
        }
    }

    /** Claims one batch and hands it over: a round without waiting. */
    int once() {
        int claimed = claimProbe();
        ClaimRequest now = routes.atFullSpeed(request);
        for (int claims = 0; now != null && claims < MOST_EMPTY_CLAIMS; claims++) {
            Claim claim = claim(now, UnaryOperator.identity());
            if (!claim.items().isEmpty() || !claim.more()) {
                return claimed + claim.items().size();
            }
        }
        return claimed;
    }

    /** @return false if the source failed */
    private boolean probe() {
        try {
            claimProbe();
            return true;
        } catch (RuntimeException e) {
            vitals.claimFailed();
            backOff(e);
            return false;
        }
    }

    /** Claims what slow routes may be called with now, whether there is room or not: it is one call per route. */
    private int claimProbe() {
        int claimed = 0;
        RouteTable.Probe probe = routes.probe(request);
        while (probe != null) {
            int items = 0;
            try {
                boolean storm = probe.route().mayBeAStorm(options.now());
                int choices = storm ? options.maxBatch() : Math.min(MOST_CHOICES, options.maxBatch());
                ClaimRequest few = probe.request().count(choices);
                RouteTable.Probe asking = probe;
                boolean more = true;
                for (int claims = 0; items == 0 && more && claims < MOST_EMPTY_CLAIMS; claims++) {
                    Claim claim = claim(few, runs -> permitted(runs, asking, storm));
                    items = claim.items().size();
                    more = claim.more();
                }
                failures = 0;
                vitals.claimed();
                claimed += items;
            } finally {
                if (items == 0) {
                    probe.permit().giveBack();
                }
            }
            probe = routes.probe(request);
        }
        return claimed;
    }

    /**
     * What to call a slow route with: one run, or a small batch. Of all that could be, those that are no suspects and have
     * failed least often, chosen at random: bad items that come first must not be tried again and again while good ones
     * wait behind them.
     *
     * <p>The others are given back. But if bad messages may fill the front of the queue, they wait: if the call is a success
     * they follow it at once; if not, they are put off, so that the next claim sees what comes behind them. In that case
     * the call is made with the latest of them, which may have come after the bad ones.
     */
    private List<Run> permitted(List<Run> runs, RouteTable.Probe probe, boolean storm) {
        List<Run> ranked = new ArrayList<>(runs);
        Collections.shuffle(ranked, ThreadLocalRandom.current());
        if (storm) {
            ranked.sort(Comparator.comparingLong((Run run) -> run.first().sequence())
                    .reversed());
        }
        ranked.sort(Comparator.comparing((Run run) -> probe.route().isSuspect(run.first()))
                .thenComparing(run -> run.first().attempt()));
        int best = Math.min(probesOneByOne ? 1 : options.minBatch(), ranked.size());
        List<Run> permitted = List.copyOf(ranked.subList(0, best));
        List<Run> others = ranked.subList(best, ranked.size());
        permitted.forEach(run -> run.permit(probe.permit()));
        if (storm) {
            permitted.get(0).waitBehind(others);
        } else {
            others.forEach(giveBack);
        }
        return permitted;
    }

    /**
     * Claims once, and hands over what came.
     *
     * @param chosen those of the claimed runs that are delivered
     */
    private Claim claim(ClaimRequest now, UnaryOperator<List<Run>> chosen) {
        long start = options.now();
        long number = claims.incrementAndGet();
        Claim claim = options.source().claim(now);
        options.emit(() ->
                new OutboxEvent.Polled(options.name(), claim.items().size(), Duration.ofNanos(options.now() - start)));
        if (!claim.items().isEmpty()) {
            List<Run> runs =
                    inFlight.add(claim, number, start, start + options.lease().toNanos());
            LOG.debug(
                    "poller {}: claimed {} items in {} runs",
                    options.name(),
                    claim.items().size(),
                    runs.size());
            options.emit(() ->
                    new OutboxEvent.Claimed(options.name(), claim.items(), Duration.ofNanos(options.now() - start)));
            deliver.accept(chosen.apply(runs));
        }
        for (WorkItem dead : claim.dead()) {
            String error = "given up at claim: its lease expired on the last attempt, or it cannot be read";
            log.dead(dead, error, null);
            options.emit(() -> new OutboxEvent.Dead(options.name(), dead, error));
        }
        claim.reclaimed().forEach(log::reclaimed);
        return claim;
    }

    /** A pause, in which slow routes are called. It ends early if one of them recovers, for then there is more to claim. */
    private void idle() {
        Set<Route> slow = routes.slow();
        long end = System.nanoTime() + idle;
        long due = System.nanoTime() + Math.min(idle, untilDue());
        boolean goesOn = true;
        while (goesOn) {
            long pause = Math.min(end, due) - System.nanoTime();
            long call = routes.untilCall();
            boolean rung = signal.await(Math.max(SHORTEST_IDLE, Math.min(pause, call)));
            if (rung) {
                due = System.nanoTime() + Math.min(idle, untilDue());
            } else if (call < pause) {
                goesOn = probe(); // and nothing else is claimed for it
            } else {
                goesOn = false;
            }
            goesOn &=
                    !woken.get() && System.nanoTime() - end < 0 && slow.stream().allMatch(Route::isSlow);
        }
        idle = woken.get()
                ? options.minIdle().toNanos()
                : Math.min(2 * idle, options.maxIdle().toNanos());
    }

    private long untilDue() {
        return Math.min(untilNextDue(), untilOwnDue());
    }

    /**
     * From memory, but now and then from the source: an idle poller should cost next to nothing. While topics are left out,
     * the source would answer for those too, and it would be asked again and again.
     */
    private long untilNextDue() {
        if (leavesOut) {
            return Long.MAX_VALUE;
        }
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
