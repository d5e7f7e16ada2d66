package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the pollers of one queue know about a destination: whether it accepts anything, and how often it may be called. All
 * pollers of an outbox or inbox with the same destination, or an equal one, share its route. Thread-safe.
 *
 * <p>It never holds a verdict back. After a failure it answers two questions: is the destination to blame, so that a last
 * attempt must not kill the item, and how soon may the next call be made?
 *
 * <ul>
 *   <li>The route <i>accepts nothing</i> if {@value #ENOUGH} different items failed since its last success. While that is
 *       so, no item dies of its last attempt. In any case, fewer than {@value #ENOUGH} items die between two successes.
 *   <li>The route is <i>slow</i> after {@value #MANY} failures since its last success, or {@value #ENOUGH} that were
 *       recognised as an outage. Then it is called one call at a time, after a pause that doubles with each failure, but
 *       not beyond a tenth of the time since its last success. One success restores full speed.
 *   <li>An item that failed while the route accepted others is a <i>suspect</i>. Its failures do not count, so that bad
 *       items beside good ones neither slow the route down nor keep each other alive. Once the route has accepted nothing
 *       for a while, they count again.
 * </ul>
 */
final class Route {
    /** So many different items that failed since the last success show that the route accepts nothing. */
    static final int ENOUGH = 5;

    /** So many failures since the last success slow the route down, if no outage was recognised. */
    static final int MANY = 300;

    static final Duration SHORTEST_PAUSE = Duration.ofMillis(200);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

    /** For so long a route without a success does not kill items that had failed before this process saw them. */
    static final Duration FIRST_MINUTES = Duration.ofMinutes(5);

    /** While another poller makes the one call, look again after this. */
    private static final long LOOK_AGAIN = Duration.ofMillis(50).toNanos();

    /** After so long without a success it looks like an outage: suspects count like all others. */
    static final Duration QUIET = Duration.ofSeconds(10);

    /** How many items of each kind are remembered. */
    private static final int MOST = 5_000;

    private static final List<WeakReference<Route>> KNOWN = new ArrayList<>();

    /** By queue: how often this process has seen items fail, by any route. */
    private static final Map<Object, Map<String, Integer>> SEEN = new WeakHashMap<>();

    private final Object queue;
    private final Object destination;
    private final LongSupplier ticker;
    private final long since;

    /** Items that failed since the last success, and when the last of those calls began. */
    private final Map<String, Long> failed = new Recent<>();

    private final Map<String, Integer> seen;

    private final Set<String> suspects = Collections.newSetFromMap(new Recent<>());
    private final Set<String> excused = Collections.newSetFromMap(new Recent<>());

    private boolean accepted;
    private long lastAccepted;

    /** When it last accepted something after it had accepted nothing. */
    private long recovered;

    private int failures;
    private int outages;
    private int deaths;
    private int batchLimit = Integer.MAX_VALUE;

    private boolean slow;
    private long slowSince;
    private Duration pause = Duration.ZERO;
    private long nextCall;
    private @Nullable Permit permit;
    private long permitEnds;

    /** The one call that a slow route allows: it ends with the call, or is given back. */
    final class Permit {
        private final AtomicBoolean used = new AtomicBoolean();

        private Permit() {}

        /** Whether the call may be made: only once. */
        boolean use() {
            return used.compareAndSet(false, true);
        }

        /** The call was not made, or had no result. Does nothing if the permit has ended. */
        void giveBack() {
            Route.this.giveBack(this);
        }
    }

    /** Keeps the latest {@link #MOST} entries. */
    private static final class Recent<T> extends LinkedHashMap<String, T> {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, T> eldest) {
            return size() > MOST;
        }
    }

    /**
     * What follows from a failure.
     *
     * @param kills whether a last attempt makes the item Dead, because the item rather than the destination is to blame
     * @param pause the longest delay to give to an item; zero for no limit
     * @param slowedDown whether this failure has slowed it down
     */
    record Standing(boolean kills, Duration pause, boolean slowedDown) {
        /** The failure of one item while others are accepted. */
        static final Standing HEALTHY = new Standing(true, Duration.ZERO, false);
    }

    private Route(Object queue, Object destination, Map<String, Integer> seen, LongSupplier ticker) {
        this.seen = seen;
        this.queue = queue;
        this.destination = destination;
        this.ticker = ticker;
        this.since = ticker.getAsLong();
        this.recovered = since;
    }

    /**
     * The route of a destination. The caller keeps it: it is forgotten together with the last poller that uses it.
     *
     * @param queue what the pollers that share it have in common
     */
    static Route of(Object queue, Object destination, LongSupplier ticker) {
        synchronized (KNOWN) {
            KNOWN.removeIf(one -> one.get() == null);
            for (WeakReference<Route> one : KNOWN) {
                Route route = one.get();
                if (route != null && route.queue == queue && route.destination.equals(destination)) {
                    return route;
                }
            }
            Map<String, Integer> seen = SEEN.computeIfAbsent(queue, one -> Collections.synchronizedMap(new Recent<>()));
            Route route = new Route(queue, destination, seen, ticker);
            KNOWN.add(new WeakReference<>(route));
            return route;
        }
    }

    /**
     * The destination accepted an item. That says something only about failures of calls that began before this one: a
     * long call may succeed while the destination is going down.
     *
     * @return whether the route was slow until now
     */
    synchronized boolean succeeded(long started) {
        accepted = true;
        lastAccepted = ticker.getAsLong();
        if (failed.size() >= ENOUGH) {
            recovered = lastAccepted;
        }
        failed.entrySet().removeIf(one -> {
            boolean before = one.getValue() - started <= 0;
            if (before) {
                suspects.add(one.getKey());
            }
            return before;
        });
        if (slow && started - slowSince < 0) {
            return false;
        }
        boolean wasSlow = slow;
        failures = failed.size();
        outages = 0;
        deaths = 0;
        slow = false;
        permit = null;
        pause = Duration.ZERO;
        return wasSlow;
    }

    /**
     * An item failed.
     *
     * @param recognised whether the failure is known to be an outage
     * @param last whether it was the item's last attempt
     * @param started when the call began
     */
    synchronized Standing failed(WorkItem item, boolean recognised, boolean last, long started, long now) {
        int seenHere = accepted ? 0 : seen.merge(item.id(), 1, Integer::sum); // counts only before the first success
        if (!suspects.contains(item.id()) || now - lastAccepted >= QUIET.toNanos()) {
            failed.put(item.id(), started);
            failures++;
            outages += recognised ? 1 : 0;
        }
        boolean beganInOutage = started - recovered < 0;
        boolean acceptsNothing = beganInOutage || acceptsNothing(item, seenHere, now);
        boolean kills = !acceptsNothing && deaths < ENOUGH - 1;
        deaths += kills && last && !recognised ? 1 : 0;
        boolean slowsDown = !slow && (failures >= MANY || outages >= ENOUGH);
        if (slowsDown) {
            slow = true;
            slowSince = now;
            rest(SHORTEST_PAUSE, now);
        } else if (slow && permit != null && started - slowSince >= 0) {
            rest(shorter(pause.multipliedBy(2), longestPause(now)), now);
        }
        return new Standing(kills, slow ? pause : acceptsNothing ? LONGEST_PAUSE : Duration.ZERO, slowsDown);
    }

    /** A route that has just accepted messages, and may have met only bad ones since, is asked sooner. */
    private Duration longestPause(long now) {
        if (!accepted) {
            return LONGEST_PAUSE;
        }
        Duration tenth = Duration.ofNanos((now - lastAccepted) / 10);
        return tenth.compareTo(SHORTEST_PAUSE) < 0 ? SHORTEST_PAUSE : shorter(tenth, LONGEST_PAUSE);
    }

    private static Duration shorter(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /** Whether good messages may wait behind a storm of bad ones: no outage was recognised, and it accepted some lately. */
    synchronized boolean mayBeAStorm(long now) {
        return slow && outages < ENOUGH && accepted && now - lastAccepted < QUIET.toNanos();
    }

    /** An item failed in a call that delivered others. */
    synchronized void failedBesideSuccess(WorkItem item) {
        suspects.add(item.id());
    }

    private synchronized void giveBack(Permit given) {
        if (permit == given) {
            rest(pause, ticker.getAsLong());
        }
    }

    /** Whether an outage rather than the item is to be blamed if this attempt, not noted yet, has failed. */
    synchronized boolean acceptsNothing(WorkItem item, long now) {
        return acceptsNothing(item, seen.getOrDefault(item.id(), 0) + 1, now);
    }

    private boolean acceptsNothing(WorkItem item, int seenHere, long now) {
        boolean failedElsewhere = item.attempt() > seenHere;
        return failed.size() >= ENOUGH || (!accepted && failedElsewhere && now - since < FIRST_MINUTES.toNanos());
    }

    /** Whether the item has failed while the route accepted others. */
    synchronized boolean isSuspect(WorkItem item) {
        return suspects.contains(item.id());
    }

    /** Whether this is the first time that the item is to be excused, as far as is remembered. */
    synchronized boolean excuses(WorkItem item) {
        return excused.add(item.id());
    }

    synchronized boolean isSlow() {
        return slow;
    }

    /** The pause between calls; zero at full speed. */
    synchronized Duration pause() {
        return pause;
    }

    /**
     * Asks for the one call that a slow route allows now; null if it allows none.
     *
     * @param longest after this long the permit is given to the next caller that asks
     */
    synchronized @Nullable Permit permit(long now, Duration longest) {
        if (!slow || isCalling(now) || nextCall - now > 0) {
            return null;
        }
        permit = new Permit();
        permitEnds = now + longest.toNanos();
        return permit;
    }

    /** How long to wait before asking again for a call, in nanoseconds. */
    synchronized long untilCall(long now) {
        if (!slow) {
            return 0;
        }
        return isCalling(now) ? LOOK_AGAIN : Math.max(0, nextCall - now);
    }

    /** The most items in one call of a batch destination. */
    synchronized int batchLimit() {
        return batchLimit;
    }

    /** A batch of this size was answered item by item. */
    synchronized void batchAnswered(int size) {
        if (size >= batchLimit) {
            batchLimit = (int) Math.min(Integer.MAX_VALUE, 2L * size);
        }
    }

    /** A batch of this size failed as a whole. */
    synchronized void batchFailed(int size) {
        batchLimit = Math.max(1, size / 2);
    }

    private boolean isCalling(long now) {
        return permit != null && permitEnds - now > 0;
    }

    private void rest(Duration length, long now) {
        pause = length;
        permit = null;
        long jitter = ThreadLocalRandom.current().nextLong(length.toNanos() / 4 + 1);
        nextCall = now + length.toNanos() - jitter;
    }
}
