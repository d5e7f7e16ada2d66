package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.internal.CoreAccess;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** All runs this poller holds leases for. Thread-safe. */
final class InFlight {
    /** How many items are leased, and about how many bytes their payloads have. */
    static final class Held {
        private final AtomicInteger items = new AtomicInteger();
        private final AtomicLong bytes = new AtomicLong();

        int items() {
            return items.get();
        }

        long bytes() {
            return bytes.get();
        }

        private void add(WorkItem item) {
            items.incrementAndGet();
            bytes.addAndGet(CoreAccess.payloadSize(item.message()));
        }

        private void remove(WorkItem item) {
            items.decrementAndGet();
            bytes.addAndGet(-CoreAccess.payloadSize(item.message()));
        }
    }

    private final RouteTable routes;
    private final Set<Run> runs = ConcurrentHashMap.newKeySet();
    private final Held all = new Held();
    private final Map<Route, Held> byRoute = new ConcurrentHashMap<>();

    InFlight(RouteTable routes) {
        this.routes = routes;
    }

    /** Groups a claim into runs: one per key, one per unkeyed item. */
    List<Run> add(TimedClaim claim) {
        List<WorkItem> items = claim.claim().items();
        Map<String, List<WorkItem>> byKey = new LinkedHashMap<>();
        List<Run> added = new ArrayList<>();
        for (WorkItem item : items) {
            String key = item.key();
            if (key == null) {
                added.add(new Run(List.of(item), claim));
            } else {
                byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(item);
            }
        }
        byKey.values().forEach(run -> added.add(new Run(run, claim)));
        runs.addAll(added);
        for (WorkItem item : items) {
            all.add(item);
            of(routes.of(item)).add(item);
        }
        return added;
    }

    /** The item was delivered, and nothing but another transaction's lock keeps it: it takes no room any more. */
    void setAside(Run run, WorkItem item) {
        if (run.setAside(item)) {
            makeRoom(item);
        }
    }

    /** The item's lease has ended, or is given up. @return whether it was open until now */
    boolean settled(Run run, WorkItem item) {
        boolean wasOpen = run.settled(item);
        if (wasOpen && !run.isAside(item)) {
            makeRoom(item);
        }
        if (run.isSettled()) {
            runs.remove(run);
        }
        return wasOpen;
    }

    /** The leases of these items are lost. @return those that were open until now: the caller tells of their loss */
    List<WorkItem> lost(Run run, List<WorkItem> items) {
        return items.stream().filter(item -> settled(run, item)).toList();
    }

    private void makeRoom(WorkItem item) {
        all.remove(item);
        of(routes.of(item)).remove(item);
    }

    Collection<Run> runs() {
        return runs;
    }

    Held all() {
        return all;
    }

    Held of(Route route) {
        return byRoute.computeIfAbsent(route, one -> new Held());
    }
}
