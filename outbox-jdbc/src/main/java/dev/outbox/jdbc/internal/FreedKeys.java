package dev.outbox.jdbc.internal;

import dev.outbox.WorkItem;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
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

    /** @param until its lease ends then, unless it is renewed */
    private record Place(String key, boolean last, long until) {}

    private final Map<String, Place> inFlight = new Recent<>();

    /** How many claims have looked at each key in vain. */
    private final Map<String, Integer> freed = new Recent<>();

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
        Map<String, WorkItem> last = new HashMap<>();
        for (WorkItem item : items) {
            String key = item.key();
            if (key != null) {
                WorkItem before = last.put(key, item);
                if (before != null) {
                    inFlight.put(before.id(), new Place(key, false, until));
                }
            }
        }
        last.forEach((key, item) -> inFlight.put(item.id(), new Place(key, true, until)));
    }

    /** @param unchanged what the settle could not change; what is locked is settled later */
    public synchronized void settled(List<Settlement> settlements, Unchanged unchanged) {
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
            if (unchanged.lost().contains(settlement.lease())
                    || settlement.kind() == Settlement.Kind.RELEASE
                    || (place.last() && !settlement.holdsBackItsKey())) {
                freed.remove(place.key()); // to the end
                freed.put(place.key(), 0);
            }
        }
    }

    /** The keys of what is in flight. */
    synchronized Set<String> inFlight(long now) {
        Set<String> keys = new HashSet<>();
        inFlight.values().forEach(place -> {
            if (place.until() - now > 0) {
                keys.add(place.key());
            }
        });
        return keys;
    }

    /** The keys to look at, those that were freed first before the others. */
    synchronized List<String> next(int most) {
        return freed.keySet().stream().limit(most).toList();
    }

    /**
     * A claim has looked at these keys, and has taken those.
     *
     * @param all false if it was full before it came to the end: then nothing is known about those it has not taken
     */
    synchronized void looked(List<String> at, Set<String> taken, boolean all) {
        for (String key : at) {
            if (taken.contains(key)) {
                freed.remove(key);
            } else if (all) {
                freed.computeIfPresent(key, (one, tries) -> tries + 1 < TRIES ? tries + 1 : null);
            }
        }
    }

    /** Whether there are keys that no claim has looked at yet. */
    synchronized boolean hasNew() {
        return freed.containsValue(0);
    }
}
