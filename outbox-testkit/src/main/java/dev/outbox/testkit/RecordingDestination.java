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
 * A destination for tests that records the items it is given. It accepts everything, or fails in the ways that a real
 * one can. Thread-safe.
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

    /** What happens to an item before it is accepted. */
    private interface Behaviour {
        void on(WorkItem item) throws Exception;
    }

    private static RecordingDestination with(Behaviour behaviour) {
        return new RecordingDestination(behaviour, new CountDownLatch(0));
    }

    /** Accepts everything. */
    public static RecordingDestination create() {
        return with(item -> {});
    }

    /**
     * Accepts nothing.
     *
     * @param failure creates the exception that each delivery throws; a {@link dev.outbox.PermanentFailureException} or
     *     a {@link dev.outbox.delivery.RetryAfterException}, for instance
     */
    public static RecordingDestination failing(Supplier<? extends Exception> failure) {
        Require.present("failure", failure);
        return with(item -> {
            throw failure.get();
        });
    }

    /** Fails this many times for each message, then accepts it. */
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

    /**
     * Accepts everything, and takes this long for each item by this clock. If that is longer than the lease, the lease is
     * lost meanwhile.
     */
    public static RecordingDestination slow(ManualClock clock, Duration time) {
        Require.present("clock", clock);
        Require.notNegative("time", time);
        return with(item -> clock.advance(time));
    }

    /**
     * Accepts nothing before {@link #release()}, and everything after it. An interrupt ends the wait; the delivery then
     * counts as failed.
     */
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

    /** Lets a {@link #blocking} destination accept everything from now on. */
    public void release() {
        gate.countDown();
    }

    /** The items that it was given, in this order, including those that it did not accept. */
    public synchronized List<WorkItem> attempts() {
        return List.copyOf(attempts);
    }

    /** The items that it accepted, in this order. An item may be there more than once, because delivery is at least once. */
    public synchronized List<WorkItem> deliveries() {
        return List.copyOf(deliveries);
    }

    /** The message ids of {@link #deliveries()}. */
    public synchronized List<String> messageIds() {
        return deliveries.stream().map(WorkItem::messageId).toList();
    }

    /**
     * Waits until a poller in the background has given it this many items.
     *
     * @throws AssertionError if that does not happen within 2 minutes
     */
    public void awaitAttempts(int count) throws InterruptedException {
        await(attempts, count, "was given");
    }

    /**
     * Waits until it has accepted this many items from a poller in the background.
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
