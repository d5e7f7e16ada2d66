package dev.outbox.delivery;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How long until an item will be due, so that an idle poller does not sleep past it: by what the source said last, and by the
 * retries that this poller settled. Only the polling thread asks; any thread may tell.
 */
final class NextDue {
    /** An idle poller asks the source once in so many polls. */
    private static final int ASK_EVERY = 10;

    /** With shorter idle pauses than this, a delayed item is noticed in time anyway. */
    private static final Duration LONG_IDLE = Duration.ofSeconds(2);

    private static final long NEVER = Long.MAX_VALUE;

    private final PollerOptions options;
    private final AtomicLong own = new AtomicLong(NEVER);
    private volatile boolean asks;
    private int sinceAsked;
    private boolean known;
    private long knownAt;

    NextDue(PollerOptions options) {
        this.options = options;
    }

    /** Something was enqueued, which may be due only later. */
    void enqueued() {
        if (options.maxIdle().compareTo(LONG_IDLE) > 0) {
            asks = true;
        }
    }

    /**
     * An item of this poller will be due after this long.
     *
     * @return whether it is the next of those
     */
    boolean dueIn(Duration delay) {
        long due = options.now() + delay.toNanos();
        long before = own.getAndAccumulate(due, NextDue::earlier);
        return earlier(before, due) != before;
    }

    private static long earlier(long known, long due) {
        return known == NEVER || due - known < 0 ? due : known;
    }

    /**
     * How long until an item is due, in nanoseconds; {@link Long#MAX_VALUE} if none is known.
     *
     * @param ofAllTopics whether the poller claims all of its topics now. If not, the source would also answer for those that
     *     are left out, and it would be asked again and again.
     */
    long until(boolean ofAllTopics) {
        return Math.min(ofAllTopics ? untilKnown() : NEVER, untilOwn());
    }

    /** From memory, but now and then from the source: an idle poller should cost next to nothing. */
    private long untilKnown() {
        long now = options.now();
        if (asks || sinceAsked++ % ASK_EVERY == 0 || (known && knownAt - now <= 0)) {
            asks = false;
            sinceAsked = 1;
            try {
                var next = options.source().nextDue(options.topics());
                known = next.isPresent();
                knownAt = now + next.orElse(Duration.ZERO).toNanos();
            } catch (RuntimeException e) {
                known = false; // the next claim will say what is wrong
            }
        }
        return known ? knownAt - now : NEVER;
    }

    private long untilOwn() {
        long due = own.get();
        if (due == NEVER) {
            return NEVER;
        }
        long left = due - options.now();
        if (left <= 0 && own.compareAndSet(due, NEVER)) {
            sinceAsked = 0; // only the nearest was remembered; ask for the next
        }
        return left;
    }
}
