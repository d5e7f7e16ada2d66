package dev.outbox;

import dev.outbox.spi.Claim;
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
    private final Set<Run> runs = ConcurrentHashMap.newKeySet();
    private final AtomicInteger items = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    /** Groups a claim into runs: one per key, one per unkeyed item. */
    List<Run> add(Claim claim, long claimed, long deadline) {
        Map<String, List<WorkItem>> byKey = new LinkedHashMap<>();
        List<Run> added = new ArrayList<>();
        for (WorkItem item : claim.items()) {
            String key = item.key();
            if (key == null) {
                added.add(new Run(List.of(item), claim, claimed, deadline));
            } else {
                byKey.computeIfAbsent(key, k -> new ArrayList<>()).add(item);
            }
        }
        byKey.values().forEach(run -> added.add(new Run(run, claim, claimed, deadline)));
        runs.addAll(added);
        items.addAndGet(claim.items().size());
        claim.items().forEach(item -> bytes.addAndGet(item.message().payloadSize()));
        return added;
    }

    /** The item's lease has ended, or is given up. */
    void settled(Run run, WorkItem item) {
        if (run.settled(item)) {
            items.decrementAndGet();
            bytes.addAndGet(-item.message().payloadSize());
        }
        if (run.isSettled()) {
            runs.remove(run);
        }
    }

    Collection<Run> runs() {
        return runs;
    }

    /** How many items are leased. */
    int size() {
        return items.get();
    }

    /** About how many bytes their payloads have. */
    long bytes() {
        return bytes.get();
    }
}
