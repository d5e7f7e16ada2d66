package dev.outbox.torture;

import dev.outbox.torture.Evidence.Change;
import dev.outbox.torture.Evidence.Row;
import dev.outbox.torture.Verdict.Violation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds good items that were passed over: they were due, their route accepted others, and still they waited longer than
 * {@link #BOUND}.
 *
 * <p>A wait begins when an item is committed, due and the first unfinished one of its key. It ends with the verdict on
 * an attempt: Done, Dead, or Ready again at a later time, which begins another wait. An item that is given back without
 * an attempt goes on waiting. A lease that expired cancels the wait, for its worker was dead, paused or cut off.
 *
 * <p>Of a wait only the time counts in which the route accepted other items, and it must have accepted {@link
 * #OVERTAKEN} of them that began to wait later. So neither an outage nor a long backlog makes an item late. Items with a
 * key are compared with items with a key, for they are found in another way than the others.
 */
final class Lateness {
    /** A lease, a call as long as any may be, and a margin for a busy machine. */
    static final Duration BOUND =
            ChildSettings.LEASE.plus(ChildSettings.MAX_DELIVERY_TIME).plus(Duration.ofSeconds(6));

    /** So many items that began to wait later were accepted before it. */
    static final int OVERTAKEN = 20;

    /** A route that accepts nothing for longer than this does not accept others meanwhile. */
    private static final long LONGEST_GAP_MILLIS = 1_000;

    private static final long NOT_WAITING = -1;

    private final Evidence evidence;
    private final Verdict verdict;
    private final Map<String, Item> items = new HashMap<>();
    private final Map<String, TreeMap<Long, Item>> keys = new HashMap<>();
    private final List<Wait> waits = new ArrayList<>();

    Lateness(Evidence evidence, Verdict verdict) {
        this.evidence = evidence;
        this.verdict = verdict;
    }

    private static final class Item {
        private final String id;
        private final String queue;
        private final String key;
        private final long sequence;
        private int status;
        private long dueFrom;
        private long waitsSince = NOT_WAITING;

        Item(Change change) {
            this.id = change.item();
            this.queue = change.queue();
            this.key = change.key();
            this.sequence = change.sequence();
        }
    }

    private record Wait(Item item, long since, long until, boolean done) {
        boolean isLike(Wait other) {
            return item.queue.equals(other.item.queue) && (item.key == null) == (other.item.key == null);
        }

        boolean overtook(Wait other) {
            return done && isLike(other) && since > other.since && until < other.until;
        }
    }

    /** @param requeued what an operator requeued comes late, and is left out */
    void check(Set<String> requeued) {
        evidence.changes().forEach(this::apply);
        for (Item item : items.values()) {
            if (item.waitsSince != NOT_WAITING) {
                waits.add(new Wait(item, item.waitsSince, Long.MAX_VALUE, false));
            }
        }
        Map<String, Payload> payloads = payloads();
        Map<String, TreeMap<Long, Long>> accepting = accepting();
        for (Wait wait : waits) {
            Payload payload = payloads.get(wait.item.id);
            boolean good = payload != null && payload.isGood() && !requeued.contains(wait.item.id);
            long waited = good ? waited(wait, accepting.get(wait.item.queue)) : 0;
            if (waited > BOUND.toMillis()) {
                long overtaken =
                        waits.stream().filter(other -> other.overtook(wait)).count();
                if (overtaken >= OVERTAKEN) {
                    verdict.add(
                            Violation.LATE,
                            "%s %d waited for %d ms while its route accepted others, %d of which were due later",
                            wait.item.queue,
                            wait.item.sequence,
                            waited,
                            overtaken);
                }
            }
        }
    }

    private void apply(Change change) {
        Item item = items.computeIfAbsent(change.item(), id -> new Item(change));
        long now = change.times().committed();
        boolean settled = change.before().status() == 1 && change.after().status() != 1;
        boolean givenBack = settled
                && change.after().status() == 0
                && change.after().attempts() < change.before().attempts()
                && change.due() <= now;
        item.status = change.after().status();
        if (settled && !change.expired() && !givenBack && item.waitsSince != NOT_WAITING) {
            waits.add(new Wait(item, item.waitsSince, now, item.status == 2));
        }
        if (settled && !givenBack) {
            item.waitsSince = NOT_WAITING;
        }
        if (item.status == 0 && !givenBack) {
            item.dueFrom = Math.max(now, change.due());
        }
        if (item.key == null) {
            await(item, now);
        } else {
            applyToKey(item, now);
        }
    }

    private void applyToKey(Item item, long now) {
        TreeMap<Long, Item> unfinished = keys.computeIfAbsent(item.queue + " " + item.key, key -> new TreeMap<>());
        Item headBefore = unfinished.isEmpty() ? null : unfinished.firstEntry().getValue();
        if (item.status < 2) {
            unfinished.put(item.sequence, item);
        } else {
            unfinished.remove(item.sequence);
        }
        if (!unfinished.isEmpty()) {
            Item head = unfinished.firstEntry().getValue();
            if (headBefore != null && headBefore != head) {
                headBefore.waitsSince = NOT_WAITING;
            }
            await(head, now);
        }
    }

    private static void await(Item item, long now) {
        if (item.status < 2 && item.waitsSince == NOT_WAITING) {
            item.waitsSince = Math.max(item.dueFrom, now);
        }
    }

    private Map<String, Payload> payloads() {
        Map<String, Payload> payloads = new HashMap<>();
        for (Map<String, Row> rows : List.of(evidence.outbox(), evidence.inbox())) {
            rows.values().forEach(row -> payloads.put(row.item(), row.payload()));
        }
        return payloads;
    }

    /** By queue: for each time at which its route accepted an item, for how long it had been accepting until then. */
    private Map<String, TreeMap<Long, Long>> accepting() {
        Map<String, TreeMap<Long, Long>> routes = new HashMap<>();
        for (Change change : evidence.changes()) {
            TreeMap<Long, Long> route = routes.computeIfAbsent(change.queue(), queue -> new TreeMap<>());
            if (change.after().status() == 2) {
                route.put(change.times().committed(), 0L);
            }
        }
        for (TreeMap<Long, Long> route : routes.values()) {
            long before = Long.MIN_VALUE / 2;
            long sum = 0;
            for (Map.Entry<Long, Long> accepted : route.entrySet()) {
                long gap = accepted.getKey() - before;
                sum += gap <= LONGEST_GAP_MILLIS ? gap : 0;
                accepted.setValue(sum);
                before = accepted.getKey();
            }
        }
        return routes;
    }

    private static long waited(Wait wait, TreeMap<Long, Long> accepting) {
        return until(accepting, wait.until) - until(accepting, wait.since);
    }

    private static long until(TreeMap<Long, Long> accepting, long time) {
        Map.Entry<Long, Long> last = accepting.floorEntry(time);
        return last == null ? 0 : last.getValue();
    }
}
