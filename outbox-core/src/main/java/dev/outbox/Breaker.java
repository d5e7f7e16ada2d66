package dev.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Tells a destination that is down from items that are bad. One per route and poller; thread-safe.
 *
 * <p>A single failure does not say which of the two it is. So the verdict on a failed item is held back for
 * a moment: if another item succeeds, the item itself was bad and its attempt counts; if enough different
 * items fail in a row, the destination is down, the breaker opens, and all of them are put off with their
 * attempts given back. Held items stay leased.
 */
final class Breaker {
    /** How long a verdict is held back: twice as long as the delivery took, within these. */
    private static final Duration LEAST_HELD = Duration.ofSeconds(1);

    private static final Duration MOST_HELD = Duration.ofMinutes(1);

    private final BreakerPolicy policy;

    /** The failures in a row, by item. */
    private final Map<String, Held> held = new LinkedHashMap<>();

    /** Items that failed in a row, those whose verdict is not held any more included. */
    private final Set<String> failed = new HashSet<>();

    /** Items that failed before an outage that is over: the next failure of each is its own. */
    private final Set<String> suspects = new HashSet<>();

    private final Duration longestProbe;
    private boolean open;
    private @Nullable String probe;
    private long probeStarted;
    private long openUntil;
    private Duration pause;

    /**
     * A failure whose verdict is held back.
     *
     * @param group the verdict, and the rest of its run, which is settled together with it
     * @param since on the JVM's own clock
     */
    private record Held(List<Verdict> group, long since) {}

    /**
     * What a failure leads to.
     *
     * @param counted failures to settle as they are
     * @param putOff failures to be put off, their attempts given back
     * @param opened whether the breaker has opened with this one
     */
    record Consequence(List<List<Verdict>> counted, List<List<Verdict>> putOff, boolean opened) {
        static final Consequence HELD = new Consequence(List.of(), List.of(), false);
    }

    /**
     * What a success leads to.
     *
     * @param counted failures that were held back, to settle as they are
     * @param closed whether the destination was down until now
     */
    record Recovery(List<List<Verdict>> counted, boolean closed) {}

    Breaker(BreakerPolicy policy, Duration longestProbe) {
        this.policy = policy;
        this.longestProbe = longestProbe;
        this.pause = policy.minPause();
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

    /** The destination took an item. */
    synchronized Recovery succeeded() {
        boolean wasOpen = open;
        if (wasOpen) {
            suspects.addAll(failed);
        }
        open = false;
        probe = null;
        failed.clear();
        pause = policy.minPause();
        return new Recovery(release(), wasOpen);
    }

    /**
     * An item failed.
     *
     * <p>An item that failed just before an outage which then ended is not given another chance to start one: a
     * handful of bad items among good ones would open the breaker again and again, and never be counted.
     */
    synchronized Consequence failed(List<Verdict> group, long now) {
        String id = group.get(0).item().id();
        if (open) {
            if (id.equals(probe)) {
                Duration twice = pause.multipliedBy(2);
                pause = twice.compareTo(policy.maxPause()) > 0 ? policy.maxPause() : twice;
                shut(now);
            }
            return new Consequence(List.of(), List.of(group), false);
        }
        if (suspects.remove(id)) {
            return new Consequence(List.of(group), List.of(), false);
        }
        held.put(id, new Held(group, System.nanoTime()));
        failed.add(id);
        if (failed.size() < policy.failures()) {
            return Consequence.HELD;
        }
        open = true;
        suspects.clear();
        shut(now);
        return new Consequence(List.of(), release(), true);
    }

    /** A delivery ended without telling whether the destination is up. */
    synchronized void abandoned(WorkItem item, long now) {
        if (open && item.id().equals(probe)) {
            shut(now);
        }
    }

    /** What was held back for long enough, or all of it: it counts now. */
    synchronized List<List<Verdict>> overdue(boolean all) {
        long now = System.nanoTime();
        List<List<Verdict>> due = new ArrayList<>();
        held.values().removeIf(one -> {
            boolean over = all || now - one.since >= patience(one).toNanos();
            if (over) {
                due.add(one.group);
            }
            return over;
        });
        return due;
    }

    /** A destination that takes long to fail needs longer to show that it is down. */
    private static Duration patience(Held one) {
        Duration twice = one.group.get(0).delivery().multipliedBy(2);
        Duration longest = twice.compareTo(MOST_HELD) > 0 ? MOST_HELD : twice;
        return longest.compareTo(LEAST_HELD) < 0 ? LEAST_HELD : longest;
    }

    synchronized boolean isOpen() {
        return open;
    }

    /** Whether nothing of its route should be claimed now: the pause is not over, or a probe is under way. */
    synchronized boolean isShut(long now) {
        boolean probing = probe != null && now - probeStarted < longestProbe.toNanos();
        return open && (probing || openUntil - now > 0);
    }

    /** How long nothing may be delivered; 0 if something may. */
    synchronized long pauseLeft(long now) {
        return open ? Math.max(0, openUntil - now) : 0;
    }

    private void shut(long now) {
        probe = null;
        long jitter = ThreadLocalRandom.current().nextLong(pause.toNanos() / 4 + 1);
        openUntil = now + pause.toNanos() + jitter;
    }

    private List<List<Verdict>> release() {
        List<List<Verdict>> groups = held.values().stream().map(Held::group).toList();
        held.clear();
        return groups;
    }
}
