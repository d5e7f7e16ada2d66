package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Unchanged;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Renews the leases of everything in flight when a third of their length is over.
 *
 * <ul>
 *   <li>A call that takes longer than the maximum delivery time is interrupted, and its leases are not renewed any more.
 *   <li>If one lease of a run is lost, the run is lost.
 *   <li>If another transaction has locked a row of a run, the run keeps its deadline, and the renewal is tried again soon.
 *   <li>A run to which nothing happens for a long time is given back if nothing of it was begun; otherwise its leases expire.
 *       So no failure inside the poller can hold a row for ever.
 * </ul>
 */
final class Renewer {
    private final PollerOptions options;
    private final InFlight inFlight;
    private final Settler settler;
    private final Verdicts verdicts;
    private final ErrorReport errors;
    private final Dispatcher dispatcher;

    Renewer(PollerContext context, Settler settler, Dispatcher dispatcher) {
        this.options = context.options();
        this.inFlight = context.inFlight();
        this.settler = settler;
        this.verdicts = new Verdicts(options);
        this.errors = context.errors();
        this.dispatcher = dispatcher;
    }

    /** How often to look: twice in a third of the lease. */
    long period() {
        return options.lease().toNanos() / 6;
    }

    void renew() {
        stopOverlong();
        long now = options.now();
        Map<Lease, Run> leases = new LinkedHashMap<>();
        for (Run run : inFlight.runs()) {
            if (run.isLost(now)) {
                lose(run);
            } else if (run.isStuck(longestWait(), now)) {
                giveUp(run);
            } else if (!isOverlong(run, now)
                    && run.deadline() - now <= options.lease().toNanos() * 2 / 3) {
                run.leased().forEach(item -> leases.put(run.lease(item), run));
            }
        }
        if (!leases.isEmpty()) {
            renew(leases, now);
        }
    }

    /** How long nothing may happen to a run: a statement may wait as long as a lease before a call comes. */
    private long longestWait() {
        return options.maxDeliveryTime().plus(options.lease()).toNanos();
    }

    private void giveUp(Run run) {
        if (run.isUntouched()) {
            settler.add(verdicts.releaseRest(run)); // our workers hang; another poller may have time
            dispatcher.forgetPromised();
        } else {
            lose(run);
        }
    }

    private void renew(Map<Lease, Run> leases, long now) {
        Unchanged unchanged = options.source().renew(List.copyOf(leases.keySet()), options.lease());
        Set<Run> lostRuns = stillLeased(unchanged.lost(), leases);
        Set<Run> lockedRuns = stillLeased(unchanged.locked(), leases);
        List<Lease> renewed = new ArrayList<>();
        leases.forEach((lease, run) -> {
            if (!lostRuns.contains(run) && !lockedRuns.contains(run)) {
                run.renewed(now + options.lease().toNanos());
                renewed.add(lease);
            }
        });
        lostRuns.forEach(this::lose);
        if (!renewed.isEmpty()) {
            options.emit(() -> new OutboxEvent.Renewed(options.name(), renewed));
        }
    }

    /** The runs of these leases, but for those settled meanwhile: what is Done is neither lost nor locked. */
    private static Set<Run> stillLeased(Set<Lease> unchanged, Map<Lease, Run> leases) {
        Set<Run> runs = new LinkedHashSet<>();
        leases.forEach((lease, run) -> {
            if (unchanged.contains(lease)
                    && run.leased().stream().anyMatch(item -> run.lease(item).equals(lease))) {
                runs.add(run);
            }
        });
        return runs;
    }

    private void stopOverlong() {
        long now = options.now();
        for (Run run : inFlight.runs()) {
            if (isOverlong(run, now) && run.interrupt(DeliveryCall.Interruption.TOO_LONG)) {
                errors.interrupted(run.begun());
            }
        }
    }

    private boolean isOverlong(Run run, long now) {
        return run.isDeliveringSince(options.maxDeliveryTime().toNanos(), now);
    }

    /** A delivery under way is interrupted; what has not begun is dropped by the worker that comes to it. */
    private void lose(Run run) {
        // before the interrupted delivery leaves them; and one that never returns must not count as work for ever
        List<WorkItem> items = inFlight.lost(run, run.leased());
        run.lose();
        errors.leaseLost("renew", "the lease was lost", items);
    }
}
