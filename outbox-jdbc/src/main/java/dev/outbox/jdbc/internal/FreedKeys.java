package dev.outbox.jdbc.internal;

import dev.outbox.WorkItem;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * What one source knows about keys because it has claimed them itself: those it has in flight, where nothing can be claimed,
 * and those it has freed by settling what it had claimed, where the next items may be claimed.
 *
 * <p><b>Lower bounds.</b> A key has no unfinished item up to the last one of a run that this source has finished from its head
 * on: the head was the first unfinished item, later ones get higher sequence numbers, and so do Dead ones that are
 * requeued. So the next claim may look above that bound. It need not pass the index entries of all that the key had before,
 * which stay while an old snapshot is open. That takes three probes instead of one, so it is done only for a key of which {@value
 * #MANY} items were finished within {@link #BOUND_HOLDS}. After that time the key is looked at from its start again. That finds what no rule foresees: an item that committed late because its caller did without the key's lock,
 * or one that was changed by hand.
 *
 * <p>It is only a hint. A key that is forgotten here, or was freed by another source, is found by the round over all keys.
 * Thread-safe: claims and settles have threads of their own.
 */
public final class FreedKeys {
    /** How many items in flight, and how many keys, are remembered. */
    private static final int MOST = 20_000;

    /**
     * How many claims look at a key in vain. Not one alone: a settle in a handler's transaction is noted before it commits.
     */
    private static final int TRIES = 10;

    static final Duration BOUND_HOLDS = Duration.ofSeconds(1);

    static final int MANY = 500;

    /** No bound: from the start of the key. */
    static final long START = Long.MIN_VALUE;

    /**
     * A key to look at.
     *
     * @param after look only at items above this sequence number
     */
    public record Hint(String key, long after) {
        public boolean isBounded() {
            return after != START;
        }
    }

    /** What one claim took of one key. */
    private static final class Run {
        private final String key;

        /** Its lease ends then, unless it is renewed. */
        private final long until;

        private final List<Long> sequences = new ArrayList<>();
        private final BitSet finished = new BitSet();

        Run(String key, long until) {
            this.key = key;
            this.until = until;
        }

        /** Up to here the key has no unfinished item. */
        long finishedTo() {
            int fromTheHeadOn = finished.nextClearBit(0);
            return fromTheHeadOn == 0 ? START : sequences.get(fromTheHeadOn - 1);
        }
    }

    private record Place(Run run, int index) {
        boolean isLast() {
            return index == run.sequences.size() - 1;
        }
    }

    /** @param tries how many claims have looked at the key in vain */
    private record Freed(int tries, long finishedTo) {
        Freed lookedAt() {
            return new Freed(tries + 1, finishedTo);
        }
    }

    /** By the id of the item. */
    private final Map<String, Place> inFlight = new Recent<>();

    private final Map<String, Freed> freed = new Recent<>();

    /** Of each key, how much traffic it has. */
    private final Map<String, Traffic> traffic = new Recent<>();

    /** Counts the items that were finished since the key was looked at from its start. */
    private static final class Traffic {
        private final long since;
        private int finished;

        Traffic(long since) {
            this.since = since;
        }
    }

    private static final class Recent<T> extends LinkedHashMap<String, T> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
            return size() > MOST;
        }
    }

    /**
     * @param items by sequence
     * @param until when their lease ends, by the caller's clock
     */
    public synchronized void claimed(List<WorkItem> items, long until) {
        Map<String, Run> runs = new HashMap<>();
        for (WorkItem item : items) {
            String key = item.key();
            if (key != null) {
                Run run = runs.computeIfAbsent(key, k -> new Run(k, until));
                inFlight.put(item.id(), new Place(run, run.sequences.size()));
                run.sequences.add(item.sequence());
            }
        }
    }

    /** @param unchanged what the settle could not change; what is locked is settled later */
    public synchronized void settled(List<Settlement> settlements, Unchanged unchanged) {
        settled(settlements, unchanged, true);
    }

    /** The same in a transaction that may still be rolled back. */
    public synchronized void settledUncommitted(List<Settlement> settlements, Unchanged unchanged) {
        settled(settlements, unchanged, false);
    }

    private void settled(List<Settlement> settlements, Unchanged unchanged, boolean committed) {
        if (inFlight.isEmpty()) {
            return;
        }
        for (Settlement settlement : settlements) {
            if (unchanged.locked().contains(settlement.lease())) {
                continue;
            }
            Place place = inFlight.remove(settlement.lease().itemId());
            if (place == null) {
                continue;
            }
            boolean lost = unchanged.lost().contains(settlement.lease());
            boolean released = settlement.kind() == Settlement.Kind.RELEASE;
            boolean finished = !lost && !released && !settlement.holdsBackItsKey();
            Run run = place.run();
            run.finished.set(place.index(), finished && committed);
            Traffic ofKey = traffic.get(run.key);
            if (ofKey != null && finished) {
                ofKey.finished++;
            }
            if (lost || released || (place.isLast() && finished)) {
                freed.remove(run.key); // to the end
                freed.put(run.key, new Freed(0, run.finishedTo()));
            }
        }
    }

    /** The keys of what is in flight. */
    synchronized Set<String> inFlight(long now) {
        Set<String> keys = new HashSet<>();
        inFlight.values().forEach(place -> {
            if (place.run().until - now > 0) {
                keys.add(place.run().key);
            }
        });
        return keys;
    }

    /** The keys to look at, those that were freed first before the others. */
    synchronized List<Hint> next(int most, long now) {
        return freed.entrySet().stream()
                .limit(most)
                .map(one -> hint(one.getKey(), one.getValue().finishedTo(), now))
                .toList();
    }

    private Hint hint(String key, long finishedTo, long now) {
        Traffic before = traffic.get(key);
        if (before == null || now - before.since >= BOUND_HOLDS.toNanos()) {
            traffic.remove(key); // to the end
            traffic.put(key, new Traffic(now));
            return new Hint(key, START);
        }
        return new Hint(key, before.finished >= MANY ? finishedTo : START);
    }

    /**
     * A claim has looked at these keys, and has taken those.
     *
     * @param all false if it was full before it came to the end: then nothing is known about those it has not taken
     */
    synchronized void looked(List<Hint> at, Set<String> taken, boolean all) {
        for (Hint hint : at) {
            if (taken.contains(hint.key())) {
                freed.remove(hint.key());
            } else if (all) {
                freed.computeIfPresent(hint.key(), (key, one) -> one.tries() + 1 < TRIES ? one.lookedAt() : null);
            }
        }
    }

    /** Whether there are keys that no claim has looked at yet. */
    synchronized boolean hasNew() {
        return freed.values().stream().anyMatch(one -> one.tries() == 0);
    }
}
