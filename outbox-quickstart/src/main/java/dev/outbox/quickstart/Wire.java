package dev.outbox.quickstart;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The network between the broker and a consumer, as unreliable as it may be: it delivers some messages twice, changes their
 * order, and redelivers what the consumer did not acknowledge. Thread-safe.
 */
final class Wire implements AutoCloseable {
    private static final double SENT_TWICE = 0.1;
    private static final int HELD_BACK = 100;
    private static final int CONSUMERS = 2;

    /** A message on its way. */
    record Parcel(String messageId, String payload) {}

    /** The receiver of parcels. A parcel that it does not acknowledge is redelivered. */
    interface Consumer {
        /** @return whether it is acknowledged */
        boolean take(Parcel parcel) throws SQLException;
    }

    private final List<Parcel> heldBack = new ArrayList<>();
    private final LinkedBlockingQueue<Parcel> arriving = new LinkedBlockingQueue<>();
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private final AtomicInteger arrivals = new AtomicInteger();
    private final ExecutorService threads = Executors.newFixedThreadPool(CONSUMERS);
    private final List<Future<?>> consumers = new ArrayList<>();
    private volatile boolean closed;
    private volatile boolean broken;

    Wire(Consumer consumer) {
        for (int i = 0; i < CONSUMERS; i++) {
            consumers.add(threads.submit(() -> consume(consumer)));
        }
    }

    void carry(Parcel parcel) {
        int copies = ThreadLocalRandom.current().nextDouble() < SENT_TWICE ? 2 : 1;
        unacknowledged.addAndGet(copies);
        for (int i = 0; i < copies; i++) {
            hold(parcel);
        }
    }

    /** Lets one of the parcels that are held back arrive instead. */
    private synchronized void hold(Parcel parcel) {
        heldBack.add(parcel);
        if (heldBack.size() > HELD_BACK) {
            arriving.add(heldBack.remove(ThreadLocalRandom.current().nextInt(heldBack.size())));
        }
    }

    private Void consume(Consumer consumer) throws SQLException, InterruptedException {
        boolean well = false;
        try {
            while (!broken && (!closed || unacknowledged.get() > 0)) {
                Parcel parcel = arriving.poll(10, TimeUnit.MILLISECONDS);
                if (parcel != null) {
                    arrive(parcel, consumer);
                }
            }
            well = true;
        } finally {
            broken |= !well;
        }
        return null;
    }

    private void arrive(Parcel parcel, Consumer consumer) throws SQLException {
        arrivals.incrementAndGet();
        if (consumer.take(parcel)) {
            unacknowledged.decrementAndGet();
        } else {
            arriving.add(parcel);
        }
    }

    /** How many deliveries were made. */
    int arrivals() {
        return arrivals.get();
    }

    /** Delivers everything that is under way and waits until it is acknowledged. */
    @Override
    public void close() throws ExecutionException {
        synchronized (this) {
            arriving.addAll(heldBack);
            heldBack.clear();
        }
        closed = true;
        threads.shutdown();
        for (Future<?> consumer : consumers) {
            try {
                consumer.get();
            } catch (InterruptedException e) {
                threads.shutdownNow();
                Thread.currentThread().interrupt();
            }
        }
    }
}
