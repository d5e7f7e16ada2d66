package dev.outbox.torture;

import dev.outbox.delivery.DestinationUnavailableException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/** What is wrong with a worker's destination for a while: it is down, or its calls take long. Thread-safe. */
final class Impairment {
    /** Three times what a call may take: some end in time, the others are interrupted. */
    private static final long LONGEST_CALL_MILLIS = 3 * ChildSettings.MAX_DELIVERY_TIME_OF_SLOW_DESTINATIONS.toMillis();

    private final History history;
    private volatile long downUntil = System.nanoTime();
    private volatile long slowUntil = System.nanoTime();
    private volatile boolean recognised;

    Impairment(History history) {
        this.history = history;
    }

    /** @param recognised whether the failures say that it is an outage */
    void down(Duration time, boolean recognised) {
        history.write("injected", Fault.FLAPPING);
        this.recognised = recognised;
        downUntil = System.nanoTime() + time.toNanos();
    }

    void slow(Duration time) {
        history.write("injected", Fault.SLOW_DESTINATION);
        slowUntil = System.nanoTime() + time.toNanos();
    }

    /** A call begins. */
    void begin() throws InterruptedException {
        if (downUntil - System.nanoTime() > 0) {
            throw recognised
                    ? new DestinationUnavailableException("the destination is down")
                    : new IllegalStateException("the destination is down");
        }
        takeTime();
    }

    /** A call ends: what it did has happened, and the answer may still be long in coming. */
    void end() throws InterruptedException {
        takeTime();
    }

    private void takeTime() throws InterruptedException {
        if (slowUntil - System.nanoTime() > 0 && ThreadLocalRandom.current().nextBoolean()) {
            CountDownLatch never = new CountDownLatch(1);
            never.await(ThreadLocalRandom.current().nextLong(LONGEST_CALL_MILLIS), TimeUnit.MILLISECONDS);
        }
    }
}
