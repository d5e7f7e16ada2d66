package dev.outbox.benchmarks;

import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * When each message was committed and when it arrived, in microseconds of the clock of this machine, which all of
 * its processes share. Thread-safe.
 */
final class Arrivals {
    private final AtomicLongArray committed;
    private final AtomicLongArray arrived;
    private final CountDownLatch missing;

    Arrivals(int messages) {
        this.committed = new AtomicLongArray(messages);
        this.arrived = new AtomicLongArray(messages);
        this.missing = new CountDownLatch(messages);
    }

    static long nowMicros() {
        Instant now = Instant.now();
        return TimeUnit.SECONDS.toMicros(now.getEpochSecond()) + now.getNano() / 1_000;
    }

    /** Call this as soon as the commit has returned. */
    void committed(int number) {
        committed.set(number, nowMicros());
    }

    /** The destination calls this before it does anything else. */
    void arrived(String payload) {
        arrived(Payload.number(payload), nowMicros());
    }

    void arrived(int number, long micros) {
        if (!arrived.compareAndSet(number, 0, micros)) {
            throw new WrongResultException("message " + number + " came twice");
        }
        missing.countDown();
    }

    void await(Duration patience) throws InterruptedException {
        if (!missing.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new WrongResultException(missing.getCount() + " of " + committed.length()
                    + " messages did not arrive within " + patience.toSeconds() + " s");
        }
    }

    /**
     * The latencies in milliseconds, lowest first. A destination may be called before the commit has returned to its caller;
     * that counts as 0.
     *
     * @param skipped how many of the first messages do not count, because they warm up the JVM
     */
    double[] latencies(int skipped) {
        double[] latencies = new double[committed.length() - skipped];
        for (int i = 0; i < latencies.length; i++) {
            latencies[i] = Math.max(0, arrived.get(skipped + i) - committed.get(skipped + i)) / 1e3;
        }
        Arrays.sort(latencies);
        return latencies;
    }
}
