package dev.outbox.delivery.internal;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Removes batch after batch, and rests after each for nine times as long as the batch took. So the database works for a purge
 * during a tenth of the time, and has the rest for deliveries. Thread-safe if its parts are.
 */
public final class Purging {
    /** How many times the length of a batch the rest after it is. */
    private static final int RESTS = 9;

    /** The longest rest: a caller may wait for the end of a purge, and a heartbeat for the end of a rest. */
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

    /** A purge on the caller's thread; interrupting the thread stops it after the batch under way. */
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
