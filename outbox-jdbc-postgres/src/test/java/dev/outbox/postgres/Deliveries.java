package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.WorkItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What the destinations of a test took, and whether it was the right thing at the right time. */
final class Deliveries {
    private final Map<String, Integer> times = new ConcurrentHashMap<>();
    private final Map<String, List<Long>> sequences = new ConcurrentHashMap<>();
    private final Set<String> busyKeys = ConcurrentHashMap.newKeySet();
    private final Queue<String> violations = new ConcurrentLinkedQueue<>();

    /** A delivery that may fail half-way. */
    interface Work {
        void run() throws Exception;
    }

    /** Does the work; if it succeeds, the item counts as delivered. Keys must come one at a time. */
    void deliver(WorkItem item, Work work) throws Exception {
        String key = item.key();
        if (key != null && !busyKeys.add(key)) {
            violations.add("two items of " + key + " at once, the second is " + item);
        }
        try {
            work.run();
            take(item);
        } finally {
            if (key != null) {
                busyKeys.remove(key);
            }
        }
    }

    void take(WorkItem item) {
        boolean first = times.merge(item.messageId(), 1, Integer::sum) == 1;
        if (first && item.key() != null) {
            sequences.computeIfAbsent(item.key(), k -> new ArrayList<>()).add(item.sequence());
        }
    }

    int distinct() {
        return times.size();
    }

    /** Each of these once, nothing else, keys in the order of their sequence. */
    void assertExactlyOnce(Set<String> ids) {
        assertAtLeastOnce(ids);
        assertThat(times.entrySet().stream().filter(entry -> entry.getValue() > 1))
                .as("delivered more than once")
                .isEmpty();
    }

    /** Each of these once or more often, nothing else, keys in the order of their sequence. */
    void assertAtLeastOnce(Set<String> ids) {
        assertThat(times.keySet().equals(ids))
                .as("delivered %s of %s", times.size(), ids.size())
                .isTrue();
        assertThat(violations).isEmpty();
        sequences.forEach((key, order) -> assertThat(order).as(key).isSorted());
    }
}
