package dev.outbox.delivery;

import java.time.Duration;

/**
 * How many items to claim at a time, between two bounds. Large batches are cheap, but what a poller holds no
 * other poller can deliver, and must be delivered again if this one crashes. So a batch should be about what the
 * destination takes in half a second: it doubles while full batches go faster than {@link #FAST} and is halved
 * when one takes longer than {@link #SLOW}, but not below what the workers take at once: where a single delivery
 * takes long, a smaller batch would only leave workers idle.
 *
 * <p>Not thread-safe: only the claiming thread asks.
 */
final class BatchSize {
    static final Duration FAST = Duration.ofMillis(250);
    static final Duration SLOW = Duration.ofSeconds(1);

    /** Where it begins, within its bounds. */
    private static final int FIRST = 100;

    private final int min;
    private final int max;
    private int size;
    private boolean busy;
    private long lastClaim;

    BatchSize(int min, int max) {
        this.min = min;
        this.max = max;
        this.size = Math.min(max, Math.max(min, FIRST));
    }

    int get() {
        return size;
    }

    /** A claim is about to be made of which this is the size: the time since the last one is what that took. */
    void claims(long now) {
        if (busy) {
            long took = now - lastClaim;
            if (took < FAST.toNanos()) {
                size = Math.min(2 * size, max);
            } else if (took > SLOW.toNanos()) {
                size = Math.max(size / 2, min);
            }
        }
        lastClaim = now;
    }

    /**
     * Only between two batches that are about full does the time tell how fast the destination is.
     *
     * @param asked the most that the claim could have brought
     */
    void claimed(int count, int asked) {
        busy = count >= asked - asked / 4;
    }
}
