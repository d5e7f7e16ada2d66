package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What close does to deliveries under way and to what waits behind them. */
@Timeout(60)
class DrainTest {
    private static final Duration SHORT = Duration.ofMillis(50);

    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final WatchedSource source = new WatchedSource(store.source());
    private final Events events = new Events();
    private final Gate gate = new Gate();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(source).to(destination).listener(events).concurrency(1);
    }

    @Test
    void whatNobodyBeganIsGivenBackUncountedWhileADeliveryUnderWayIsWaitedFor() throws Exception {
        List<String> ids = store.add(unkeyed(4));
        Poller poller = poller(gate).start();
        gate.awaitArrival();
        Thread closer = new Thread(poller::close);
        closer.start();

        for (String id : ids.subList(1, 4)) {
            await().until(() -> state(store, id).equals(new ItemState(id, Status.READY, 0, null)));
        }
        assertThat(closer.isAlive()).isTrue();
        assertThat(status(store, ids.get(0))).isEqualTo(Status.PROCESSING);

        gate.open();
        closer.join();
        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
        assertThat(gate.begun).containsExactly(ids.get(0));
        assertThat(events.count(OutboxEvent.Released.class)).isEqualTo(3);
    }

    @Test
    void theRestOfARunIsGivenBackUncountedWhenTheItemUnderWayIsDone() throws Exception {
        List<String> ids = store.add(run("k", 3));
        Poller poller = poller(gate).start();
        gate.awaitArrival();
        Thread closer = new Thread(poller::close);
        closer.start();
        await().until(() -> !poller.isRunning());

        gate.open();
        closer.join();

        assertThat(gate.delivered).containsExactly(ids.get(0));
        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
        assertThat(state(store, ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 0, null));
        assertThat(state(store, ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.READY, 0, null));
    }

    @Test
    void closingDoesNotWaitForWhatAnExecutorTookAndNeverBegan() {
        String id = store.add(message("a")).get(0);
        List<Runnable> dropped = new CopyOnWriteArrayList<>();
        Poller poller = poller(gate)
                .executor(dropped::add)
                .drainTimeout(Duration.ofDays(1))
                .start();
        await().until(() -> dropped.size() == 1);

        poller.close();

        assertThat(state(store, id).status()).isEqualTo(Status.READY);
        assertThat(state(store, id).attempts()).isZero();
    }

    @Test
    void whatAClaimBringsAfterCloseIsGivenBackUncounted() throws Exception {
        String id = store.add(message("a")).get(0);
        CountDownLatch claimed = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        source.afterClaim = () -> {
            claimed.countDown();
            awaitQuietly(goOn);
        };
        Poller poller = poller(gate).start();
        claimed.await();
        Thread closer = new Thread(poller::close);
        closer.start();
        await().until(() -> !poller.isRunning());

        goOn.countDown();
        closer.join();

        assertThat(state(store, id)).isEqualTo(new ItemState(id, Status.READY, 0, null));
        assertThat(gate.begun).isEmpty();
    }

    @Test
    void pastTheDrainTimeoutADeliveryIsInterruptedAndGivenBackCounted() throws Exception {
        List<String> ids = store.add(run("k", 2));
        Poller poller = poller(gate).drainTimeout(SHORT).start();
        gate.awaitArrival();

        poller.close();

        assertThat(gate.interrupted).containsExactly(ids.get(0));
        assertThat(state(store, ids.get(0))).isEqualTo(new ItemState(ids.get(0), Status.READY, 1, null));
        assertThat(state(store, ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 0, null));
    }

    @Test
    void pastTheDrainTimeoutAllItemsOfABatchAreGivenBackAndNoneFails() throws Exception {
        List<String> ids = store.add(unkeyed(20));
        CountDownLatch begun = new CountDownLatch(1);
        Poller poller = Poller.from(source)
                .toBatch(items -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                    return List.of();
                })
                .listener(events)
                .drainTimeout(SHORT)
                .start();
        begun.await();

        poller.close();

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id)).isEqualTo(new ItemState(id, Status.READY, 1, null)));
        assertThat(events.count(OutboxEvent.Retried.class)).isZero();
    }

    @Test
    void closeOnAnInterruptedThreadStillDrainsAndTheInterruptIsRestored() throws Exception {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(gate).start();
        gate.awaitArrival();
        AtomicBoolean restored = new AtomicBoolean();
        Thread closer = new Thread(() -> {
            Thread.currentThread().interrupt();
            poller.close();
            restored.set(Thread.currentThread().isInterrupted());
        });
        closer.start();
        await().until(() -> !poller.isRunning());
        assertThat(gate.interrupted).isEmpty();

        gate.open();
        closer.join();

        assertThat(status(store, id)).isEqualTo(Status.DONE);
        assertThat(restored).isTrue();
    }

    @Test
    void aDeliveryThatSucceedsInSpiteOfTheInterruptIsDone() throws Exception {
        String id = store.add(message("a")).get(0);
        CountDownLatch begun = new CountDownLatch(1);
        Poller poller = poller(item -> {
                    begun.countDown();
                    awaitQuietly(new CountDownLatch(1));
                })
                .drainTimeout(SHORT)
                .start();
        begun.await();

        poller.close();

        assertThat(status(store, id)).isEqualTo(Status.DONE);
    }

    @Test
    void aDeliveryThatIgnoresTheInterruptDoesNotHoldUpCloseForEver() throws Exception {
        String id = store.add(message("a")).get(0);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Poller poller = poller(item -> {
                    begun.countDown();
                    while (end.getCount() > 0) {
                        awaitQuietly(end);
                    }
                })
                .name("stubborn")
                .drainTimeout(Duration.ZERO)
                .start();
        begun.await();

        poller.close();

        assertThat(end.getCount()).as("the delivery is still under way").isOne();
        assertThat(state(store, id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
        end.countDown();
        await().until(() -> Fixture.threadsOf("stubborn").isEmpty());
    }

    @Test
    void aDatabaseThatIsDownDoesNotHoldUpCloseForEver() throws Exception {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(gate).drainTimeout(SHORT).start();
        gate.awaitArrival();
        source.down();
        gate.open();

        poller.close();

        assertThat(gate.delivered).containsExactly(id);
        assertThat(status(store, id)).as("its lease will expire").isEqualTo(Status.PROCESSING);
    }

    @Test
    void verdictsOfADatabaseThatComesBackInTimeAreSettledDuringClose() throws Exception {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(gate).start();
        gate.awaitArrival();
        source.beforeSettle = WatchedSource.DOWN;
        gate.open();
        await().until(() -> events.count(OutboxEvent.PollFailed.class) > 0);
        Thread closer = new Thread(poller::close);
        closer.start();
        await().until(() -> !poller.isRunning());

        source.up();
        closer.join();

        assertThat(status(store, id)).isEqualTo(Status.DONE);
    }

    @Test
    void aSettleThatFailsOnceDuringCloseIsTriedAgainEvenWithoutADrainTimeout() throws Exception {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(gate).drainTimeout(Duration.ZERO).start();
        gate.awaitArrival();
        AtomicBoolean failed = new AtomicBoolean();
        source.beforeSettle = () -> {
            if (failed.compareAndSet(false, true)) {
                WatchedSource.DOWN.run();
            }
        };

        poller.close();

        assertThat(failed).isTrue();
        assertThat(status(store, id)).isEqualTo(Status.READY);
    }

    /** Waits for the latch, or for an interrupt, of which nothing is left. */
    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
        }
    }
}
