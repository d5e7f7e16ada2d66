package dev.outbox.testkit.poller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** A destination that holds every delivery until it is opened or interrupted. */
final class Gate implements Destination {
    final List<String> begun = new CopyOnWriteArrayList<>();
    final List<String> delivered = new CopyOnWriteArrayList<>();
    final List<String> interrupted = new CopyOnWriteArrayList<>();
    private final Semaphore arrivals = new Semaphore(0);
    private final CountDownLatch open = new CountDownLatch(1);

    @Override
    public void deliver(WorkItem item) throws InterruptedException {
        begun.add(item.id());
        arrivals.release();
        try {
            open.await();
        } catch (InterruptedException e) {
            interrupted.add(item.id());
            throw e;
        }
        delivered.add(item.id());
    }

    /** Waits until one more delivery stands at the gate. */
    void awaitArrival() throws InterruptedException {
        assertThat(arrivals.tryAcquire(2, TimeUnit.MINUTES))
                .as("a delivery began")
                .isTrue();
    }

    void open() {
        open.countDown();
    }
}
