package dev.outbox.testkit;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.internal.Require;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A destination for tests, which remembers what it was given. It takes everything, or behaves as badly as a real one
 * can. Thread-safe.
 */
public final class RecordingDestination implements Destination {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Behaviour behaviour;
    private final CountDownLatch gate;
    private final List<WorkItem> attempts = new ArrayList<>();
    private final List<WorkItem> deliveries = new ArrayList<>();

    private RecordingDestination(Behaviour behaviour, CountDownLatch gate) {
        this.behaviour = behaviour;
        this.gate = gate;
    }

    /** What happens to an item before it is taken. */
    private interface Behaviour {
        void on(WorkItem item) throws Exception;
    }

    private static RecordingDestination with(Behaviour behaviour) {
        return new RecordingDestination(behaviour, new CountDownLatch(0));
    }

    /** Takes everything. */
    public static RecordingDestination create() {
        return with(item -> {});
    }

    /**
     * Takes nothing.
     *
     * @param failure what each delivery throws; a {@link dev.outbox.PermanentFailureException} or a {@link
     *     dev.outbox.delivery.RetryAfterException}, for instance
     */
    public static RecordingDestination failing(Supplier<? extends Exception> failure) {
        Require.present("failure", failure);
        return with(item -> {
            throw failure.get();
        });
    }

    /** Fails so many times for each message, then takes it. */
    public static RecordingDestination flaky(int failures) {
        Require.between("failures", failures, 0, 1_000_000);
        Map<String, Integer> calls = new HashMap<>();
        return with(item -> {
            int call;
            synchronized (calls) {
                call = calls.merge(item.messageId(), 1, Integer::sum);
            }
            if (call <= failures) {
                throw new IllegalStateException("failure " + call + " of " + failures);
            }
        });
    }

    /** Takes everything, each in so long by this clock: longer than the lease, and the lease is lost meanwhile. */
    public static RecordingDestination slow(ManualClock clock, Duration time) {
        Require.present("clock", clock);
        Require.notNegative("time", time);
        return with(item -> clock.advance(time));
    }

    /** Takes nothing before {@link #release()}, then everything. An interrupt ends the wait, as a failure. */
    public static RecordingDestination blocking() {
        CountDownLatch gate = new CountDownLatch(1);
        return new RecordingDestination(item -> gate.await(), gate);
    }

    @Override
    public void deliver(WorkItem item) throws Exception {
        synchronized (this) {
            attempts.add(item);
            notifyAll();
        }
        behaviour.on(item);
        synchronized (this) {
            deliveries.add(item);
            notifyAll();
        }
    }

    /** Lets a blocking one go on, for ever. */
    public void release() {
        gate.countDown();
    }

    /** What it was given, in this order; what it did not take included. */
    public synchronized List<WorkItem> attempts() {
        return List.copyOf(attempts);
    }

    /** What it took, in this order; some more than once, for delivery is at least once. */
    public synchronized List<WorkItem> deliveries() {
        return List.copyOf(deliveries);
    }

    /** The message ids of {@link #deliveries()}. */
    public synchronized List<String> messageIds() {
        return deliveries.stream().map(WorkItem::messageId).toList();
    }

    /**
     * Waits until it was given so many items, by a poller that works in the background.
     *
     * @throws AssertionError if that does not happen within 2 minutes
     */
    public void awaitAttempts(int count) throws InterruptedException {
        await(attempts, count, "was given");
    }

    /**
     * Waits until it has taken so many items, from a poller that works in the background.
     *
     * @throws AssertionError if that does not happen within 2 minutes
     */
    public void awaitDeliveries(int count) throws InterruptedException {
        await(deliveries, count, "took");
    }

    private synchronized void await(List<WorkItem> list, int count, String did) throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        while (list.size() < count) {
            long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
            if (left <= 0) {
                throw new AssertionError("the destination " + did + " " + list.size() + " items within " + PATIENCE
                        + ", not " + count + ": " + list);
            }
            wait(left);
        }
    }
}
