package dev.outbox.jdbc.internal.claim;

import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What one source knows about keys because it has claimed them itself: those it has in flight, where nothing can be claimed,
 * and those it has freed by settling what it had claimed, if there may be more of them to claim.
 *
 * <p>There may be more if the run was as long as the claim allowed, or if a claim has since passed by rows of the key because
 * it was in flight. A key whose run took everything is not looked at again: the next row to arrive will show it.
 *
 * <p><b>Lower bounds.</b> A key has no unfinished item up to the last one of a run that this source has finished from its head
 * on: the head was the first unfinished item, later ones get higher sequence numbers, and so do Dead ones that are
 * requeued. So the next claim may look above that bound. It need not pass the index entries of all that the key had before,
 * which stay while an old snapshot is open. That takes three probes instead of one, so it is done only for a key of which {@value
 * #MANY} items were finished since it was looked at from its start. After {@link #BOUND_HOLDS}, or twenty times as long as such a
 * look took, the key is looked at from its start again. That finds what no rule foresees: an item that committed late because its
 * caller did without the key's lock, or one that was changed by hand.
 *
 * <p>It is only a hint. A key that is forgotten here, or was freed by another source, is found by the sweeps of {@link KeyScan}.
 * Thread-safe: claims and settles have threads of their own.
 */
public final class FreedKeys {
    /** How many items in flight, and how many keys, are remembered. */
    private static final int MOST = 20_000;

    /** How many keys to look at a claim is told of, so that it does not find them elsewhere too. */
    private static final int MOST_KNOWN = 1_000;

    static final Duration BOUND_HOLDS = Duration.ofSeconds(1);

    /** Looks from the start take at most one part in so many of the time. */
    private static final int SHARE = 20;

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

        /** Of its last item. */
        private String topic = "";

        /** Its lease ends then, unless it is renewed. */
        private final long until;

        private final List<Long> sequences = new ArrayList<>();
        private final BitSet finished = new BitSet();
        private int settled;

        /** Whether there may be more of the key to claim once it is settled. */
        private boolean hasMore;

        /** Whether the key waits for a time, or for an operator. */
        private boolean isHeldBack;

        Run(String key, long until, boolean hasMore) {
            this.key = key;
            this.until = until;
            this.hasMore = hasMore;
        }

        boolean isSettled() {
            return settled == sequences.size();
        }

        /** Up to here the key has no unfinished item. */
        long finishedTo() {
            int fromTheHeadOn = finished.nextClearBit(0);
            return fromTheHeadOn == 0 ? START : sequences.get(fromTheHeadOn - 1);
        }
    }

    private record Place(Run run, int index) {}

    /**
     * @param finishedTo up to here the key has no unfinished item
     * @param topic the one that its next item probably has; null if nothing is known of it
     */
    private record Freed(long finishedTo, @Nullable String topic) {
        static final Freed UNKNOWN = new Freed(START, null);

        boolean isWanted(Predicate<String> topics) {
            return topic == null || topics.test(topic);
        }
    }

    /** Counts the items that were finished since the key was looked at from its start. */
    private static final class Traffic {
        private final long since;
        private final long boundHolds;
        private int finished;

        /** @param cost how long the look took */
        Traffic(long since, long cost) {
            this.since = since;
            this.boundHolds = Math.max(BOUND_HOLDS.toNanos(), SHARE * cost);
        }
    }

    private static final class Recent<T> extends LinkedHashMap<String, T> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
            return size() > MOST;
        }
    }

    /** By the id of the item. */
    private final Map<String, Place> inFlight = new Recent<>();

    /** By the key. */
    private final Map<String, Run> runs = new Recent<>();

    /** Keys to look at. */
    private final Map<String, Freed> freed = new Recent<>();

    /** Of keys that were looked at from their start. */
    private final Map<String, Traffic> traffic = new Recent<>();

    /**
     * @param items by sequence
     * @param hasMore of which keys there may be more than was taken
     * @param until when their lease ends, by the caller's clock
     */
    synchronized void claimed(List<WorkItem> items, Predicate<String> hasMore, long until) {
        Map<String, Run> claimed = new HashMap<>();
        for (WorkItem item : items) {
            String key = item.key();
            if (key != null) {
                Run run = claimed.computeIfAbsent(key, k -> new Run(k, until, hasMore.test(k)));
                inFlight.put(item.id(), new Place(run, run.sequences.size()));
                run.sequences.add(item.sequence());
                run.topic = item.topic();
            }
        }
        claimed.forEach((key, run) -> {
            run.hasMore |= freed.remove(key) != null;
            runs.remove(key); // to the end
            runs.put(key, run);
        });
    }

    /** @param unchanged what the settle, which has committed, could not change; what is locked is settled later */
    public synchronized void settled(List<Settlement> settlements, Unchanged unchanged) {
        if (inFlight.isEmpty()) {
            return;
        }
        for (Settlement settlement : settlements) {
            if (unchanged.locked().contains(settlement.lease())) {
                continue;
            }
            Place place = inFlight.remove(settlement.lease().itemId());
            if (place != null) {
                settled(place, settlement, unchanged.lost().contains(settlement.lease()));
            }
        }
    }

    /** These leases were lost: others may have the items, or have settled them. */
    public synchronized void lost(Set<Lease> leases) {
        for (Lease lease : leases) {
            Place place = inFlight.remove(lease.itemId());
            if (place != null) {
                settled(place, Settlement.release(lease, true), true);
            }
        }
    }

    private void settled(Place place, Settlement settlement, boolean lost) {
        Run run = place.run();
        boolean released = settlement.kind() == Settlement.Kind.RELEASE;
        if (!lost && !released && !settlement.holdsBackItsKey()) {
            run.finished.set(place.index());
            Traffic ofKey = traffic.get(run.key);
            if (ofKey != null) {
                ofKey.finished++;
            }
        }
        run.settled++;
        run.hasMore |= lost || released;
        run.isHeldBack |= !lost && !released && settlement.holdsBackItsKey();
        if (run.isSettled()) {
            boolean wasWatched = runs.remove(run.key, run);
            if (!run.isHeldBack && (run.hasMore || !wasWatched)) {
                freed.remove(run.key); // to the end
                freed.put(run.key, new Freed(run.finishedTo(), run.topic));
            }
        }
    }

    /** The keys that are in flight, and those that are to be looked at next. */
    synchronized Set<String> known(long now) {
        runs.values().removeIf(run -> {
            boolean ended = run.until - now <= 0;
            if (ended && run.hasMore) {
                freed.putIfAbsent(run.key, Freed.UNKNOWN);
            }
            return ended;
        });
        Set<String> known = new HashSet<>(runs.keySet());
        freed.keySet().stream().limit(MOST_KNOWN).forEach(known::add);
        return known;
    }

    /** A claim has passed by rows of these keys, because they were in flight when it began. */
    synchronized void passedBy(Collection<String> keys) {
        for (String key : keys) {
            Run run = runs.get(key);
            if (run == null) {
                freed.putIfAbsent(key, Freed.UNKNOWN); // settled meanwhile
            } else {
                run.hasMore = true;
            }
        }
    }

    /** The keys to look at by a claim for these topics, those that were freed first before the others. */
    synchronized List<Hint> next(int most, Predicate<String> topics, long now) {
        return freed.entrySet().stream()
                .filter(one -> one.getValue().isWanted(topics))
                .limit(most)
                .map(one -> hint(one.getKey(), one.getValue().finishedTo(), now))
                .toList();
    }

    private Hint hint(String key, long finishedTo, long now) {
        Traffic ofKey = traffic.get(key);
        boolean isBounded = ofKey != null && ofKey.finished >= MANY && now - ofKey.since < ofKey.boundHolds;
        return new Hint(key, isBounded ? finishedTo : START);
    }

    /**
     * A claim has looked at these keys, and has taken those. What it has not taken may be locked by a stranger.
     *
     * @param all false if it was full before it came to the end: then nothing is known about those it has not taken
     * @param now when it was over
     * @param took how long it took
     */
    synchronized void looked(List<Hint> at, Set<String> taken, boolean all, long now, long took) {
        for (Hint hint : at) {
            if (all || taken.contains(hint.key())) {
                freed.remove(hint.key());
            }
            traffic.computeIfPresent(hint.key(), (key, one) -> now - one.since < one.boundHolds ? one : null);
            if (!hint.isBounded() && taken.contains(hint.key())) {
                traffic.putIfAbsent(hint.key(), new Traffic(now, took));
            }
        }
    }

    /** Whether there are keys to look at by a claim for these topics. */
    synchronized boolean areThere(Predicate<String> topics) {
        return freed.values().stream().anyMatch(one -> one.isWanted(topics));
    }
}
