package dev.outbox;

import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Collects verdicts and settles them, as many as have come together in one statement. Each settlement
 * carries the token of its own claim. A settle that fails is tried again until the lease is over; by then
 * somebody else may own the item, and it is dropped.
 */
final class Settler {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /** The most settlements in one statement, but for a group that must not be split. */
    private static final int MOST = 1_000;

    private final PollerOptions options;
    private final InFlight inFlight;

    /** Groups that belong in one statement: a verdict and the rest of its run. */
    private final ConcurrentLinkedDeque<List<Verdict>> queue = new ConcurrentLinkedDeque<>();

    private final Signal added = new Signal();

    /** Held while a settle or a renew is under way: both need the same connection and the same truth. */
    private final ReentrantLock io;

    private final Consumer<Verdict> onSettled;
    private final FailureLog log;

    Settler(PollerOptions options, InFlight inFlight, FailureLog log, ReentrantLock io, Consumer<Verdict> onSettled) {
        this.options = options;
        this.inFlight = inFlight;
        this.log = log;
        this.io = io;
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

    boolean isEmpty() {
        return queue.isEmpty() && !io.isLocked();
    }

    boolean await(long nanos) {
        return !queue.isEmpty() || added.await(nanos);
    }

    void wake() {
        added.ring();
    }

    /** Settles one statement's worth; what could not be settled stays. */
    void flush() {
        io.lock();
        try {
            Map<Lease, Verdict> verdicts = new LinkedHashMap<>();
            List<List<Verdict>> groups = new ArrayList<>();
            List<Verdict> group;
            while (verdicts.size() < MOST && (group = queue.poll()) != null) {
                groups.add(group);
                group.forEach(verdict -> verdicts.put(verdict.settlement().lease(), verdict));
            }
            if (verdicts.isEmpty()) {
                return;
            }
            Set<Lease> fenced;
            boolean settled = false;
            try {
                fenced = options.source()
                        .settle(verdicts.values().stream()
                                .map(Verdict::settlement)
                                .toList());
                settled = true;
            } finally {
                if (!settled) {
                    putBack(groups);
                }
            }
            verdicts.forEach((lease, verdict) -> settled(verdict, fenced.contains(lease)));
        } finally {
            io.unlock();
        }
    }

    /** Back to the front, in order; but what is not ours any more is dropped. */
    private void putBack(List<List<Verdict>> groups) {
        long now = options.now();
        for (int i = groups.size() - 1; i >= 0; i--) {
            List<Verdict> group = groups.get(i);
            Run run = group.get(0).run();
            if (run.isLost(now)) {
                List<WorkItem> items = group.stream().map(Verdict::item).toList();
                items.forEach(item -> inFlight.settled(run, item));
                LOG.warn(
                        "poller {}: {} items could not be settled before their lease ended",
                        options.name(),
                        items.size());
                List<WorkItem> lost = run.newlyLost(items);
                if (!lost.isEmpty()) {
                    options.emit(() -> new OutboxEvent.LeaseLost(options.name(), lost));
                }
            } else {
                queue.addFirst(group);
            }
        }
    }

    /** Books one settled verdict and tells of it. */
    void settled(Verdict verdict, boolean fenced) {
        WorkItem item = verdict.item();
        Settlement settlement = verdict.settlement();
        inFlight.settled(verdict.run(), item);
        if (fenced) {
            LOG.warn("poller {}: settle of {} was fenced, its lease was lost", options.name(), item);
            options.emit(() -> new OutboxEvent.Fenced(options.name(), item));
        } else {
            LOG.debug("poller {}: {} {}", options.name(), settlement.kind(), item);
            log.settled(verdict);
            options.emit(() -> event(verdict));
        }
        onSettled.accept(verdict);
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
