package dev.outbox.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Commits messages at a steady pace, one per transaction, and takes the time from the return of the commit to the
 * call of the destination.
 *
 * @param perSecond messages per second, all threads together
 * @param seconds how long
 */
record Latency(Courier courier, int perSecond, int seconds, int threads) implements Contender {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** The share of the messages, from the first one on, that only warms up. */
    private static final int SKIPPED_PART = 5;

    @Override
    public String name() {
        return courier.name();
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "%s; threads %d, connections %d, %,d transactions a second for %d s, of 1 order and %d bytes",
                courier.settings(),
                threads,
                Relay.CONNECTIONS,
                perSecond,
                seconds,
                Payload.BYTES);
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        // A smoke run lasts a second or less and keeps the pace.
        int messages = Math.max(Math.min(20, perSecond), trial.scale().of(perSecond * seconds));
        Orders.install(database);
        Arrivals arrivals = new Arrivals(messages);
        courier.prepare(trial);
        Courier.Line line = courier.start(database, arrivals);
        Measurement measurement;
        try {
            Meter meter = Meter.start(trial.server());
            commitAll(line, arrivals, messages);
            arrivals.await(PATIENCE);
            meter.stopClock();
            measurement = meter.read(messages);
        } finally {
            line.stop();
        }
        courier.check(database);
        double[] latencies = arrivals.latencies(messages / SKIPPED_PART);
        return measurement.withLatency(
                percentile(latencies, 0.50), percentile(latencies, 0.99), latencies[latencies.length - 1]);
    }

    /** The threads take turns: each has a schedule of its own, and a late message does not delay the next one. */
    private void commitAll(Courier.Line line, Arrivals arrivals, int messages) throws InterruptedException {
        long start = System.nanoTime();
        long beat = TimeUnit.SECONDS.toNanos(1) / perSecond;
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int first = i;
            loops.add(Loop.start(name(), () -> {
                for (int number = first; number < messages; number += threads) {
                    sleepUntil(start + number * beat);
                    line.commit(number);
                    arrivals.committed(number);
                }
            }));
        }
        for (Loop loop : loops) {
            loop.await();
        }
    }

    private static void sleepUntil(long nanos) {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private static double percentile(double[] sorted, double part) {
        return sorted[(int) Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
    }
}
