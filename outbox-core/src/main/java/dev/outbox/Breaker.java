package dev.outbox;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Tells a destination that is down from items that are bad. One per route and poller; thread-safe.
 *
 * <p>A single failure does not say which of the two it is. So the verdict on a failed item is held back for
 * a moment: if another item succeeds, the item itself was bad and its attempt counts; if enough different
 * items fail in a row, the destination is down, the breaker opens, and all of them are put off with their
 * attempts given back. Held items stay leased.
 */
final class Breaker {
    /** How long a verdict is held back at most. */
    static final Duration MOST_HELD = Duration.ofSeconds(1);

    private final BreakerPolicy policy;

    /** The failures in a row, by item. */
    private final Map<String, Held> held = new LinkedHashMap<>();

    /** Items that failed in a row, those whose verdict is not held any more included. */
    private final Set<String> failed = new HashSet<>();

    private boolean open;
    private boolean probing;
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
     * @param putOff failures to be put off, their attempts given back; empty while they are held
     * @param opened whether the breaker has opened, or stays open
     */
    record Consequence(List<List<Verdict>> putOff, boolean opened) {}

    Breaker(BreakerPolicy policy) {
        this.policy = policy;
        this.pause = policy.minPause();
    }

    /** Whether a delivery may begin now. In an open breaker one at a time may, after the pause. */
    synchronized boolean permits(long now) {
        if (!open) {
            return true;
        }
        if (probing || openUntil - now > 0) {
            return false;
        }
        probing = true;
        return true;
    }

    /** The destination answered. Answers what was held back, and whether it was down till now. */
    synchronized Recovery succeeded() {
        boolean wasOpen = open;
        open = false;
        probing = false;
        failed.clear();
        pause = policy.minPause();
        return new Recovery(release(), wasOpen);
    }

    record Recovery(List<List<Verdict>> counted, boolean closed) {}

    synchronized Consequence failed(List<Verdict> group, long now) {
        if (open) {
            if (probing) {
                probing = false;
                Duration twice = pause.multipliedBy(2);
                pause = twice.compareTo(policy.maxPause()) > 0 ? policy.maxPause() : twice;
                shut(now);
            }
            return new Consequence(List.of(group), true);
        }
        String id = group.get(0).item().id();
        held.put(id, new Held(group, System.nanoTime()));
        failed.add(id);
        if (failed.size() < policy.failures()) {
            return new Consequence(List.of(), false);
        }
        open = true;
        shut(now);
        return new Consequence(release(), true);
    }

    /** A delivery ended without an answer of the destination: it was interrupted. */
    synchronized void abandoned() {
        probing = false;
    }

    /** What was held back for so long, and is so no more. */
    synchronized List<List<Verdict>> heldFor(Duration time) {
        long limit = System.nanoTime() - time.toNanos();
        List<List<Verdict>> due = new ArrayList<>();
        held.values().removeIf(one -> {
            boolean over = one.since - limit <= 0;
            if (over) {
                due.add(one.group);
            }
            return over;
        });
        return due;
    }

    synchronized boolean isOpen() {
        return open;
    }

    /** Whether nothing of its route should be claimed now: the pause is not over, or a probe is under way. */
    synchronized boolean isShut(long now) {
        return open && (probing || openUntil - now > 0);
    }

    /** How long nothing may be delivered; 0 if something may. */
    synchronized long pauseLeft(long now) {
        return open ? Math.max(0, openUntil - now) : 0;
    }

    private void shut(long now) {
        long jitter = ThreadLocalRandom.current().nextLong(pause.toNanos() / 4 + 1);
        openUntil = now + pause.toNanos() + jitter;
    }

    private List<List<Verdict>> release() {
        List<List<Verdict>> groups = held.values().stream().map(Held::group).toList();
        held.clear();
        return groups;
    }
}
