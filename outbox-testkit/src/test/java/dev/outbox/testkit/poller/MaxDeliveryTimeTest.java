package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static dev.outbox.testkit.poller.LeasedPoller.LEASE;
import static dev.outbox.testkit.poller.LeasedPoller.THIRD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Deliveries that last too long or never end. */
@Timeout(60)
@SuppressWarnings("try")
class MaxDeliveryTimeTest {
    private final LeasedPoller leased = new LeasedPoller();
    private final TestTime time = leased.time;
    private final InMemoryStore store = leased.store;
    private final WatchedSource source = leased.source;
    private final Events events = leased.events;
    private final Gate gate = leased.gate;

    @AfterEach
    void openTheGate() {
        gate.open();
    }

    @Test
    void aDeliveryThatTakesTooLongIsInterruptedAndCountsAsFailed() throws Exception {
        List<String> ids = store.add(run("k", 2));

        try (Poller poller =
                leased.poller(gate).maxDeliveryTime(LEASE.multipliedBy(2)).start()) {
            gate.awaitArrival();
            for (int i = 0; i < 5; i++) {
                leased.passAThird();
            }
            assertThat(gate.interrupted).isEmpty();
            time.pass(THIRD);
            await().until(() -> status(store, ids.get(0)) == Status.READY);

            assertThat(gate.interrupted).containsExactly(ids.get(0));
            assertThat(state(store, ids.get(0)).attempts()).isOne();
            assertThat(state(store, ids.get(0)).lastError())
                    .contains("delivery took longer than maxDeliveryTime " + LEASE.multipliedBy(2));
            assertThat(state(store, ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 0, null));
        }
    }

    @Test
    void whatWaitsBehindAHandlerThatNeverReturnsIsGivenBack() throws Exception {
        store.add(message("hangs"));
        String waiting = store.add(message("waiting")).get(0);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);

        try (Poller poller = leased.poller(item -> stubbornly(begun, end))
                .maxDeliveryTime(LEASE)
                .start()) {
            begun.await();
            for (int i = 0; i < 5; i++) {
                leased.passAThird();
            }
            assertThat(status(store, waiting)).isEqualTo(Status.PROCESSING);
            time.pass(THIRD);
            await().until(() -> status(store, waiting) == Status.READY);

            assertThat(state(store, waiting).attempts()).isZero();
            end.countDown();
        }
    }

    @Test
    void whatAnExecutorTookAndDroppedIsGivenBackAndItsWorkerReplaced() throws Exception {
        String dropped = store.add(message("dropped")).get(0);
        List<Runnable> lost = new CopyOnWriteArrayList<>();
        ExecutorService threads = Executors.newSingleThreadExecutor();
        Executor forgetful = work -> {
            if (lost.isEmpty()) {
                lost.add(work);
            } else {
                threads.execute(work);
            }
        };
        try (Poller poller = leased.poller(item -> {})
                .executor(forgetful)
                .maxDeliveryTime(LEASE)
                .start()) {
            await("it is dropped").until(() -> lost.size() == 1);
            while (events.count(OutboxEvent.Released.class) == 0) {
                time.pass(THIRD);
                time.awaitRenewer();
            }
            poller.wakeUp();

            awaitStatus(store, dropped, Status.DONE);
            lost.get(0).run(); // comes after all, and finds nothing to do
        } finally {
            threads.shutdown();
        }
        assertThat(state(store, dropped).attempts()).isEqualTo(1);
    }

    @Test
    void aHandlerThatNeverReturnsLosesItsLease() throws Exception {
        String id = store.add(message("a")).get(0);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);

        try (Poller poller = leased.poller(item -> stubbornly(begun, end))
                .maxDeliveryTime(LEASE)
                .start()) {
            begun.await();
            leased.passAThird();
            leased.passAThird();
            int renewals = source.renewCalls.get();
            for (int i = 0; i < 4; i++) {
                time.pass(THIRD);
                time.awaitRenewer();
            }

            assertThat(claimAsRival(leased.rival).items())
                    .extracting(WorkItem::id)
                    .containsExactly(id);
            assertThat(source.renewCalls.get()).isEqualTo(renewals);
            end.countDown();
            await().until(() -> events.count(OutboxEvent.Fenced.class) + events.count(OutboxEvent.LeaseLost.class) > 0);
        } finally {
            end.countDown();
        }
        assertThat(status(store, id)).as("it is the rival's").isEqualTo(Status.PROCESSING);
    }

    @Test
    void anItemThatTookTooLongButWasDeliveredDoesNotCostTheRestOfItsRunAnAttempt() throws Exception {
        List<String> ids = store.add(run("k", 3));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);

        try (Poller poller = leased.poller(item -> {
                    if (item.id().equals(ids.get(0))) {
                        stubbornly(begun, end);
                    }
                })
                .maxDeliveryTime(LEASE)
                .start()) {
            begun.await();
            leased.passAThird();
            leased.passAThird();
            try (CapturedLog log = new CapturedLog()) {
                time.pass(THIRD);
                await().until(() -> log.warnings().stream().anyMatch(line -> line.contains("interrupted a delivery")));
            }
            end.countDown();
            Fixture.awaitAllDone(store);
        } finally {
            end.countDown();
        }

        assertThat(store.items()).extracting(ItemState::attempts).containsOnly(1);
        assertThat(events.lost()).isEmpty();
    }

    @Test
    void theInterruptOfOneDeliveryDoesNotReachTheNext() throws Exception {
        store.add(message("first"), message("second"));
        CountDownLatch begun = new CountDownLatch(1);
        List<Boolean> interrupted = new CopyOnWriteArrayList<>();

        try (Poller poller = leased.poller(item -> {
                    if (item.payload().equals("first")) {
                        begun.countDown();
                        while (!Thread.currentThread().isInterrupted()) {
                            Thread.onSpinWait(); // and the flag stays set
                        }
                    }
                    interrupted.add(Thread.currentThread().isInterrupted());
                })
                .maxDeliveryTime(LEASE)
                .start()) {
            begun.await();
            leased.passAThird();
            leased.passAThird();
            time.pass(THIRD);
            Fixture.awaitAllDone(store);
        }

        assertThat(interrupted).containsExactly(true, false);
    }

    @Test
    void halvesOfABatchThatWaitForSlowCallsAreNotTakenForStuck() {
        Duration lease = Duration.ofMillis(60);
        store.add(unkeyed(16));
        AtomicInteger calls = new AtomicInteger();

        try (Poller poller = Poller.from(source)
                .toBatch(items -> {
                    calls.incrementAndGet();
                    time.pass(lease.dividedBy(3));
                    time.awaitRenewer();
                    if (items.size() > 1) {
                        throw new IOException("one of them is bad");
                    }
                    return List.of(Outcome.done());
                })
                .listener(events)
                .lease(lease)
                .maxDeliveryTime(lease)
                .ticker(time::ticker)
                .start()) {
            Fixture.awaitAllDone(store);
        }

        assertThat(events.lost()).isEmpty();
        assertThat(calls).as("each half was called").hasValueGreaterThan(16);
    }

    private static void stubbornly(CountDownLatch begun, CountDownLatch end) {
        begun.countDown();
        while (end.getCount() > 0) {
            try {
                end.await();
            } catch (InterruptedException e) {
                // goes on
            }
        }
    }
}
