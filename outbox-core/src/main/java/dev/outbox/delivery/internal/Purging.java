package dev.outbox.delivery.internal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Removes batch after batch and rests after each for nine times as long as it took, so that of the time a purge lasts the
 * database works for it a tenth, and has the rest for whoever delivers. Thread-safe if its parts are.
 */
public final class Purging {
    /** Rests, by the time of the batch before. */
    private static final int RESTS = 9;

    /** Whoever waits for the end of a purge, or for a heartbeat beside it, waits no longer for a rest. */
    static final Duration LONGEST_REST = Duration.ofSeconds(10);

    /** A smaller batch is the last: what becomes old enough meanwhile waits for the next purge. */
    static final int WORTH_ANOTHER = 100;

    private final LongSupplier ticker;
    private final Pause pause;

    /** @param ticker nanoseconds */
    public Purging(LongSupplier ticker, Pause pause) {
        this.ticker = ticker;
        this.pause = pause;
    }

    /** On the thread of whoever asks for it; who interrupts that ends the purge after the batch under way. */
    public static Purging byHand() {
        return new Purging(System::nanoTime, Purging::sleep);
    }

    /** Rests. */
    public interface Pause {
        /** @return whether to go on */
        boolean rest(Duration length);
    }

    /** Removes some rows. */
    public interface Batch<X extends Exception> {
        /** @return how many */
        int remove() throws X;
    }

    /** @return how many rows were removed, until little was left or the pause said to stop */
    public <X extends Exception> long run(Batch<X> batch) throws X {
        long removed = 0;
        while (true) {
            long start = ticker.getAsLong();
            int size = batch.remove();
            removed += size;
            if (size < WORTH_ANOTHER || !pause.rest(restAfter(ticker.getAsLong() - start))) {
                return removed;
            }
        }
    }

    private static Duration restAfter(long nanos) {
        return Duration.ofNanos(Math.min(nanos, LONGEST_REST.toNanos() / RESTS) * RESTS);
    }

    private static boolean sleep(Duration length) {
        try {
            TimeUnit.NANOSECONDS.sleep(length.toNanos());
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
