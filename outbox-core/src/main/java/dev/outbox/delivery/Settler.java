package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects verdicts and settles them, as many as have come together in one statement. Each settlement
 * carries the token of its own claim. A settle that fails is tried again until the lease is over; then
 * another poller may own the item, and the verdict is dropped.
 *
 * <p>Verdicts on items whose rows another transaction has locked are put aside and tried again by themselves, until the
 * source answers that they are settled or lost: while a row is locked no other poller can take it, whatever its lease
 * says. Later verdicts of the same run wait behind them, so that a key is settled in its order.
 *
 * <p>Verdicts are added by any thread; one thread settles them.
 */
final class Settler {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /**
     * The most settlements in one statement, but for a group that must not be split. Half of the largest batch that is
     * claimed by default, so that the first half makes room for a claim while the second one is settled.
     */
    private static final int MOST = 250;

    private static final long FIRST_LOCKED_PAUSE = Duration.ofMillis(10).toNanos();
    private static final long LAST_LOCKED_PAUSE = Duration.ofSeconds(1).toNanos();

    private final PollerOptions options;
    private final InFlight inFlight;

    /** Groups that belong in one statement: a verdict and the rest of its run. */
    private final ConcurrentLinkedDeque<List<Verdict>> queue = new ConcurrentLinkedDeque<>();

    private final Signal added = new Signal();

    /** Verdicts put aside, of each run in their order. */
    private final Map<Run, List<Verdict>> locked = new LinkedHashMap<>();

    /** Between two tries to settle those; doubled when one settles nothing. */
    private long lockedPause = FIRST_LOCKED_PAUSE;

    private long lockedTry;

    private final HeartbeatSender heartbeat;
    private final FailureLog log;
    private final ErrorReport errors;
    private final Consumer<Verdict> onSettled;

    Settler(PollerContext context, Consumer<Verdict> onSettled) {
        this.options = context.options();
        this.inFlight = context.inFlight();
        this.heartbeat = context.heartbeat();
        this.log = context.log();
        this.errors = context.errors();
        this.onSettled = onSettled;
    }

    void add(List<Verdict> group) {
        if (!group.isEmpty()) {
            queue.add(group);
            added.ring();
        }
    }

    void addAll(List<List<Verdict>> groups) {
        queue.addAll(groups);
        added.ring();
    }

    /** Whether nothing is left to settle. */
    boolean isEmpty() {
        return queue.isEmpty() && locked.isEmpty();
    }

    /** Whether nothing is left but what another transaction has locked. */
    boolean waitsForLocks() {
        return queue.isEmpty() && !locked.isEmpty();
    }

    /** Waits until there is something to settle, at most this long. */
    void await(long nanos) {
        if (queue.isEmpty()) {
            added.await(locked.isEmpty() ? nanos : Math.max(0, Math.min(nanos, lockedTry - System.nanoTime())));
        }
    }

    void wake() {
        added.ring();
    }

    /**
     * Waits until enough verdicts have come together to be settled, or something waits for those that have.
     *
     * @param roomWanted whether a claim waits for room
     */
    void gather(SettleLinger linger, BooleanSupplier roomWanted, BooleanSupplier stops) {
        long began = System.nanoTime();
        long left;
        do {
            left = linger.left(queue, inFlight.all().items(), roomWanted.getAsBoolean(), System.nanoTime() - began);
        } while (left > 0 && !stops.getAsBoolean() && added.await(left));
    }

    /** Settles as much as one statement takes, and what was put aside if it is time. What could not be settled stays. */
    void flush() {
        List<List<Verdict>> groups = new ArrayList<>();
        Map<Lease, Verdict> verdicts = new LinkedHashMap<>();
        List<Verdict> group;
        while (verdicts.size() < MOST && (group = queue.poll()) != null) {
            List<Verdict> earlier = locked.get(group.get(0).run());
            if (earlier == null) {
                groups.add(group);
                group.forEach(verdict -> verdicts.put(verdict.settlement().lease(), verdict));
            } else {
                earlier.addAll(group);
            }
        }
        Unchanged unchanged;
        boolean answered = false;
        try {
            unchanged = settle(verdicts);
            answered = true;
        } finally {
            if (!answered) {
                putBack(groups);
            }
        }
        boolean first = locked.isEmpty();
        book(verdicts, unchanged);
        if (first) {
            lockedPause = FIRST_LOCKED_PAUSE;
            lockedTry = System.nanoTime() + lockedPause;
        } else if (lockedTry - System.nanoTime() <= 0) {
            settleLocked();
        }
    }

    private void settleLocked() {
        lockedTry = System.nanoTime() + lockedPause;
        lockedPause = Math.min(2 * lockedPause, LAST_LOCKED_PAUSE);
        int before = locked.size();
        Map<Lease, Verdict> verdicts = new LinkedHashMap<>();
        for (List<Verdict> run : List.copyOf(locked.values())) {
            if (verdicts.size() + run.size() > MOST) {
                book(verdicts, settle(verdicts));
                verdicts.clear();
            }
            run.forEach(verdict -> verdicts.put(verdict.settlement().lease(), verdict));
        }
        book(verdicts, settle(verdicts));
        if (locked.size() < before) {
            lockedPause = FIRST_LOCKED_PAUSE;
        }
    }

    /** Settles these in one statement. */
    private Unchanged settle(Map<Lease, Verdict> verdicts) {
        if (verdicts.isEmpty()) {
            return Unchanged.NONE;
        }
        verdicts.values().forEach(verdict -> verdict.run().settling(verdict.item()));
        boolean answered = false;
        try {
            Unchanged unchanged = options.source()
                    .settle(verdicts.values().stream().map(Verdict::settlement).toList());
            answered = true;
            return unchanged;
        } finally {
            if (!answered) {
                verdicts.values().forEach(verdict -> verdict.run().notSettled(verdict.item()));
            }
        }
    }

    /** First makes room for all leases that have ended, and then tells of them. */
    private void book(Map<Lease, Verdict> verdicts, Unchanged unchanged) {
        verdicts.values().forEach(verdict -> locked.remove(verdict.run()));
        verdicts.forEach((lease, verdict) -> {
            if (!unchanged.locked().contains(lease)) {
                ended(verdict);
            }
        });
        verdicts.forEach((lease, verdict) -> {
            if (unchanged.locked().contains(lease)) {
                putAside(verdict);
            }
        });
        verdicts.forEach((lease, verdict) -> {
            if (!unchanged.locked().contains(lease)) {
                tell(verdict, unchanged.lost().contains(lease));
            }
        });
    }

    private void putAside(Verdict verdict) {
        locked.computeIfAbsent(verdict.run(), run -> new ArrayList<>()).add(verdict);
        verdict.run().notSettled(verdict.item());
        inFlight.setAside(verdict.run(), verdict.item());
        LOG.debug("poller {}: {} is locked by another transaction, settling it later", options.name(), verdict.item());
    }

    /** Puts verdicts back at the front, in their order, and drops those whose leases are lost. */
    private void putBack(List<List<Verdict>> groups) {
        long now = options.now();
        List<WorkItem> lost = new ArrayList<>();
        for (int i = groups.size() - 1; i >= 0; i--) {
            List<Verdict> group = groups.get(i);
            Run run = group.get(0).run();
            if (run.isLost(now)) {
                lost.addAll(inFlight.lost(run, group.stream().map(Verdict::item).toList()));
            } else {
                queue.addFirst(group);
            }
        }
        errors.leaseLost("settle", "the lease ended before the settle succeeded", lost);
    }

    /** The lease of a verdict's item has ended. */
    void ended(Verdict verdict) {
        inFlight.settled(verdict.run(), verdict.item());
    }

    /** Tells of a verdict whose lease has ended. It throws nothing, because there may be more verdicts to tell of. */
    void tell(Verdict verdict, boolean fenced) {
        WorkItem item = verdict.item();
        if (fenced) {
            errors.guarded("settle", () -> log.fenced(item));
            errors.guarded("settle", () -> options.emit(() -> new OutboxEvent.Fenced(options.name(), item)));
        } else {
            errors.guarded("settle", () -> {
                LOG.debug(
                        "poller {}: {} {}", options.name(), verdict.settlement().kind(), item);
                log.settled(verdict);
            });
            errors.guarded("settle", () -> options.emit(() -> event(verdict)));
        }
        errors.guarded("settle", () -> {
            heartbeat.delivered(verdict.delivery());
            onSettled.accept(verdict);
        });
    }

    private OutboxEvent event(Verdict verdict) {
        Settlement settlement = verdict.settlement();
        String error = String.valueOf(settlement.error());
        return switch (settlement.kind()) {
            case DONE -> new OutboxEvent.Done(options.name(), verdict.item(), verdict.delivery());
            case RETRY ->
                settlement.error() == null // put off without a call
                        ? new OutboxEvent.Released(options.name(), verdict.item())
                        : new OutboxEvent.Retried(options.name(), verdict.item(), settlement.delay(), error);
            case DEAD -> new OutboxEvent.Dead(options.name(), verdict.item(), error);
            case RELEASE -> new OutboxEvent.Released(options.name(), verdict.item());
        };
    }
}
