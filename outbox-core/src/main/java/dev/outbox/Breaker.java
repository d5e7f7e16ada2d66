package dev.outbox;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Tells a destination that is down from items that are bad. One per route, shared by the pollers of {@link
 * SharedBreakers}; thread-safe.
 *
 * <p>A single failure does not say which of the two it is. So the verdict on a failed item is held back for
 * a moment: if another item succeeds, the item itself was bad and its attempt counts; if enough different
 * items fail in a row, the destination is down, the breaker opens, and all of them are put off with their
 * attempts given back. Held items stay leased.
 *
 * <p>A verdict goes back to its poller under the breaker's lock, so that a poller which has given up waiting
 * gets none afterwards.
 */
final class Breaker {
    /** How long a verdict is held back: until as many more could have failed one by one, within these. */
    private static final Duration LEAST_HELD = Duration.ofSeconds(1);

    private static final Duration MOST_HELD = Duration.ofMinutes(1);

    private final Object route;
    private final BreakerPolicy policy;
    private final Duration longestProbe;

    /** The failures in a row, by item. */
    private final Map<String, Held> held = new LinkedHashMap<>();

    /** When items failed in a row, those whose verdict is not held any more included. */
    private final Map<String, Long> failed = new HashMap<>();

    /** Items that failed before an outage that is over: the next failure of each is its own. */
    private final Set<String> suspects = new HashSet<>();

    private boolean open;
    private @Nullable Holder prober;
    private long proberSince;
    private @Nullable String probe;
    private long probeStarted;
    private long openedAt;
    private long openUntil;
    private Duration pause;

    /** A poller, to which its verdicts go back. */
    interface Holder {
        /** The failure was the item's own. */
        void count(List<Verdict> group);

        /** The destination was down: no attempt is counted. */
        void putOff(List<Verdict> group, Duration delay);
    }

    /**
     * A failure whose verdict is held back.
     *
     * @param group the verdict, and the rest of its run, which is settled together with it
     * @param at when it failed
     * @param since the same on the JVM's own clock
     */
    private record Held(Holder holder, List<Verdict> group, long at, long since) {
        void count() {
            holder.count(group);
        }
    }

    Breaker(Object route, BreakerPolicy policy, Duration longestProbe) {
        this.route = route;
        this.policy = policy;
        this.longestProbe = longestProbe;
        this.pause = policy.minPause();
    }

    boolean isFor(Object route, BreakerPolicy policy, Duration longestProbe) {
        return this.route.equals(route) && this.policy.equals(policy) && this.longestProbe.equals(longestProbe);
    }

    /** Whether the delivery of this item may begin now. In an open breaker one at a time may, after the pause. */
    synchronized boolean permits(WorkItem item, long now) {
        if (!open) {
            return true;
        }
        if (isShut(now)) {
            return false;
        }
        probe = item.id();
        probeStarted = now;
        return true;
    }

    /**
     * The destination took an item. That says something only about failures from before its delivery began: one
     * that takes its time may come through while the destination is going down.
     *
     * @return whether it was down until now
     */
    synchronized boolean succeeded(long started) {
        if (open && started - openedAt < 0) {
            return false;
        }
        boolean wasOpen = open;
        if (wasOpen) {
            suspects.addAll(failed.keySet());
        }
        open = false;
        probe = null;
        prober = null;
        pause = policy.minPause();
        failed.values().removeIf(at -> at - started <= 0);
        count(one -> one.at - started <= 0);
        return wasOpen;
    }

    /**
     * An item failed.
     *
     * <p>An item that failed just before an outage which then ended is not given another chance to start one: a
     * handful of bad items among good ones would open the breaker again and again, and never be counted.
     *
     * @return whether the breaker has opened with this one
     */
    synchronized boolean failed(Holder holder, List<Verdict> group, long now) {
        String id = group.get(0).item().id();
        if (open) {
            if (id.equals(probe)) {
                Duration twice = pause.multipliedBy(2);
                pause = twice.compareTo(policy.maxPause()) > 0 ? policy.maxPause() : twice;
                shut(now);
                holder.putOff(group, delay(now).plus(policy.minPause())); // the next probe is another item's turn
            } else {
                holder.putOff(group, delay(now));
            }
            return false;
        }
        if (suspects.remove(id)) {
            holder.count(group);
            return false;
        }
        Held before = held.put(id, new Held(holder, group, now, System.nanoTime()));
        if (before != null) {
            before.count(); // its lease was lost, and the item failed once more elsewhere
        }
        failed.put(id, now);
        if (failed.size() < policy.failures()) {
            return false;
        }
        open = true;
        openedAt = now;
        suspects.clear();
        shut(now);
        held.values().forEach(one -> one.holder.putOff(one.group, delay(now)));
        held.clear();
        return true;
    }

    /** A delivery ended without telling whether the destination is up. */
    synchronized void abandoned(WorkItem item, long now) {
        if (open && item.id().equals(probe)) {
            shut(now);
        }
    }

    /** Counts what was held back for long enough, whose ever it is. */
    synchronized void countOverdue() {
        long now = System.nanoTime();
        count(one -> now - one.since >= patience(one).toNanos());
    }

    /** How long until something was held back for long enough. */
    synchronized long untilOverdue() {
        long now = System.nanoTime();
        return held.values().stream()
                .mapToLong(one -> patience(one).toNanos() - (now - one.since))
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** Counts all that is held back for this poller, which waits no longer and probes no more. */
    synchronized void leave(Holder holder) {
        count(one -> one.holder == holder);
        if (prober == holder) {
            prober = null;
        }
    }

    private void count(Predicate<Held> which) {
        held.values().removeIf(one -> {
            boolean counts = which.test(one);
            if (counts) {
                one.count();
            }
            return counts;
        });
    }

    /** A destination that takes long to fail needs longer to show that it is down. */
    private Duration patience(Held one) {
        Duration enough = one.group.get(0).delivery().multipliedBy(policy.failures());
        Duration longest = enough.compareTo(MOST_HELD) > 0 ? MOST_HELD : enough;
        return longest.compareTo(LEAST_HELD) < 0 ? LEAST_HELD : longest;
    }

    synchronized boolean isOpen() {
        return open;
    }

    /**
     * Whether this poller may claim items of the route now. After a pause a single poller may, until it has found
     * an item to probe with: the others would only claim what they cannot deliver.
     */
    synchronized boolean mayClaim(Holder holder, long now) {
        if (!open) {
            return true;
        }
        if (isShut(now)) {
            return false;
        }
        if (prober != holder
                && prober != null
                && now - proberSince < policy.maxPause().toNanos()) {
            return false;
        }
        if (prober != holder) {
            prober = holder;
            proberSince = now;
        }
        return true;
    }

    /** Whether nothing of its route should be delivered now: the pause is not over, or a probe is under way. */
    synchronized boolean isShut(long now) {
        boolean probing = probe != null && now - probeStarted < longestProbe.toNanos();
        return open && (probing || openUntil - now > 0);
    }

    /** How long nothing may be delivered; 0 if something may. */
    synchronized long pauseLeft(long now) {
        return open ? Math.max(0, openUntil - now) : 0;
    }

    /** How long to put off what may not be delivered now. */
    Duration delay(long now) {
        Duration left = Duration.ofNanos(pauseLeft(now));
        return left.compareTo(policy.minPause()) < 0 ? policy.minPause() : left;
    }

    private void shut(long now) {
        probe = null;
        prober = null;
        long jitter = ThreadLocalRandom.current().nextLong(pause.toNanos() / 4 + 1);
        openUntil = now + pause.toNanos() + jitter;
    }
}
