package dev.outbox.delivery;

import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.Set;

/**
 * Claims, again and again.
 *
 * <p>While items come, it claims as long as there is room: one batch is being delivered and one waits, so
 * that the next claim overlaps with delivery and settle. When nothing comes it pauses, twice as long each
 * time, but not past the next due time. A wake-up ends the pause, and the next one is short again. If the source fails, it is
 * asked again after a growing pause, for ever: a database that is down, at start or later, only causes a pause.
 *
 * <p>A claim that found something is followed by another one, unless the source says that it has seen everything and wake-ups
 * can be relied on: see {@link Announcements}.
 */
final class PollLoop extends PollerThread {
    /** No idle pause is shorter, not even if a source says that something is due when nothing can be claimed. */
    private static final long SHORTEST_IDLE = Duration.ofMillis(10).toNanos();

    /** How often in a row a source is asked that finds nothing and says that there may be more. */
    static final int MOST_EMPTY_CLAIMS = 100;

    private final ClaimRequest request;
    private final RouteTable routes;
    private final BatchSize batchSize;
    private final ClaimRoom room;
    private final PollTriggers triggers;
    private final Claimer claimer;
    private final SlowRouteCalls slowRouteCalls;

    private long idle;
    private int emptyClaims;

    /** Whether the last claim was not for all topics. */
    private boolean leavesOut;

    PollLoop(PollerContext context, PollTriggers triggers, Dispatcher dispatcher) {
        super(context, "claim");
        this.request = options.claimRequest();
        this.routes = context.routes();
        int atOnce = Math.max(options.minBatch(), options.concurrency() * dispatcher.runsPerCall());
        this.batchSize = new BatchSize(Math.min(atOnce, options.maxBatch()), options.maxBatch());
        this.room = new ClaimRoom(context);
        this.triggers = triggers;
        this.claimer = new Claimer(context, triggers, dispatcher);
        this.slowRouteCalls = new SlowRouteCalls(context, claimer, dispatcher);
        this.idle = options.minIdle().toNanos();
    }

    @Override
    void wake() {
        triggers.wake();
    }

    @Override
    void work() {
        while (!isStopped()) {
            round();
        }
    }

    /** Claims one batch and hands it over: a round without waiting. @return how many items were claimed */
    int once() {
        int claimed = slowRouteCalls.make();
        ClaimRequest now = routes.atFullSpeed(request);
        for (int claims = 0; now != null && claims < MOST_EMPTY_CLAIMS; claims++) {
            Claim claim = claimer.claim(now);
            if (!claim.items().isEmpty() || !claim.more()) {
                return claimed + claim.items().size();
            }
        }
        return claimed;
    }

    /** One round: claim or wait. */
    private void round() {
        if (!callSlowRoutes()) {
            return;
        }
        triggers.wantsRoom(true); // before looking, so that room made meanwhile is not missed
        ClaimRequest now = room.claim(request, batchSize.get());
        if (now == null) {
            long patience = Math.min(room.patience().toNanos(), routes.untilCall());
            triggers.await(Math.max(SHORTEST_IDLE, patience));
            return;
        }
        triggers.wantsRoom(room.isShort());
        leavesOut = !now.topics().equals(request.topics()) || !now.except().isEmpty();
        Claim claim;
        try {
            claim = claim(now);
        } catch (RuntimeException e) {
            backOff(e);
            return;
        }
        boolean found = !claim.items().isEmpty();
        emptyClaims = found ? 0 : emptyClaims + 1;
        boolean more = claim.more() && emptyClaims < MOST_EMPTY_CLAIMS;
        if (found || more) {
            idle = options.minIdle().toNanos();
        }
        if (!more && !(found && !triggers.announcements().areComplete())) {
            emptyClaims = 0;
            idle();
        }
    }

    private Claim claim(ClaimRequest now) {
        boolean announced = triggers.takeWoken();
        batchSize.claims(options.now());
        Claim claim = claimer.claim(now);
        batchSize.claimed(claim.items().size(), now.count());
        if (!announced && claim.items().stream().anyMatch(item -> item.attempt() == 1)) {
            triggers.announcements().foundUnannounced();
        }
        return claim;
    }

    /** @return false if the source failed */
    private boolean callSlowRoutes() {
        try {
            slowRouteCalls.make();
            return true;
        } catch (RuntimeException e) {
            backOff(e);
            return false;
        }
    }

    private void backOff(RuntimeException failure) {
        triggers.await(claimer.failed(failure).toNanos());
    }

    /** A pause, in which slow routes are called. It ends early if one of them recovers, because then there is more to claim. */
    private void idle() {
        Set<Route> slow = routes.slow();
        long end = System.nanoTime() + idle;
        long due = nextLook();
        boolean goesOn = true;
        while (goesOn) {
            long pause = Math.min(end, due) - System.nanoTime();
            long call = routes.untilCall();
            boolean rung = triggers.await(Math.max(SHORTEST_IDLE, Math.min(pause, call)));
            if (rung) {
                due = nextLook();
            } else if (call < pause) {
                goesOn = callSlowRoutes(); // and nothing else is claimed for it
            } else {
                goesOn = false;
            }
            goesOn &= !triggers.isWoken()
                    && System.nanoTime() - end < 0
                    && slow.stream().allMatch(Route::isSlow);
        }
        idle = triggers.isWoken()
                ? options.minIdle().toNanos()
                : Math.min(2 * idle, options.maxIdle().toNanos());
    }

    /** When an item will be due, but not after the idle pause. */
    private long nextLook() {
        return System.nanoTime() + Math.min(idle, triggers.nextDue().until(!leavesOut));
    }
}
