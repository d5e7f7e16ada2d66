package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
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

/** Time stands still unless a test moves it, so a slow machine cannot lose a lease by accident. */
@Timeout(60)
@SuppressWarnings("try")
class LeaseTest {
    private static final Duration LEASE = Duration.ofMillis(60);
    private static final Duration THIRD = LEASE.dividedBy(3);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);
    private final WatchedSource source = new WatchedSource(store.source());
    private final Source rival = store.source();
    private final Events events = new Events();
    private final Gate gate = new Gate();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(source)
                .to(destination)
                .listener(events)
                .concurrency(1)
                .lease(LEASE)
                .idle(HOUR, HOUR) // it claims once, so what it loses goes to the rival
                .drainTimeout(Duration.ZERO)
                .ticker(time::ticker);
    }

    @AfterEach
    void openTheGate() {
        gate.open();
    }

    /** A third of the lease goes by and the poller renews. */
    private void passAThird() {
        int before = events.count(OutboxEvent.Renewed.class);
        time.pass(THIRD);
        await("a renewal").until(() -> events.count(OutboxEvent.Renewed.class) > before);
    }

    @Test
    void aLongDeliveryAndWhatWaitsBehindItKeepTheirLeases() throws Exception {
        List<String> ids = store.add(run("k", 2));
        String waiting = store.add(message("waiting")).get(0);

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            for (int i = 0; i < 12; i++) {
                passAThird();
                assertThat(claimAsRival(rival).items()).as("after %d thirds", i).isEmpty();
            }
            gate.open();
            Fixture.awaitAllDone(store);
        }

        assertThat(gate.begun).containsExactlyInAnyOrder(ids.get(0), ids.get(1), waiting);
        assertThat(store.items()).extracting(ItemState::attempts).containsOnly(1);
        assertThat(events.lost()).isEmpty();
        assertThat(events.count(OutboxEvent.Fenced.class)).isZero();
    }

    @Test
    void aRenewalThatFailsIsTriedAgain() throws Exception {
        store.add(message("a"));

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            source.beforeRenew = WatchedSource.DOWN;
            time.pass(THIRD);
            await().until(() -> events.count(OutboxEvent.PollFailed.class) > 0);
            source.up();
            await().until(() -> events.count(OutboxEvent.Renewed.class) > 0);
            gate.open();
            Fixture.awaitAllDone(store);
        }
    }

    @Test
    void aHandlerWhoseLeaseWasTakenIsInterruptedAndItsRunIsDropped() throws Exception {
        List<String> ids = store.add(run("k", 3));

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            await("it has seen everything and is idle").until(() -> source.claims.size() == 2);
            time.passInStore(LEASE);
            Claim taken = claimAsRival(rival);
            assertThat(taken.items()).extracting(WorkItem::id).isEqualTo(ids);
            time.passForPoller(THIRD);

            await().until(() -> !gate.interrupted.isEmpty());
            await().until(() -> events.count(OutboxEvent.LeaseLost.class) > 0);
            poller.close();

            assertThat(gate.interrupted).containsExactly(ids.get(0));
            assertThat(gate.begun).as("nothing more of the run was delivered").containsExactly(ids.get(0));
            assertThat(source.settlements()).as("nothing of it was settled").isEmpty();
            assertThat(events.lost()).as("each is reported once").containsExactlyElementsOf(ids);
            assertThat(rival.settle(taken.items().stream()
                                    .map(item -> Settlement.done(taken.lease(item)))
                                    .toList())
                            .lost())
                    .as("what the rival settled was fenced")
                    .isEmpty();
        }
    }

    @Test
    void aLeaseThatCouldNotBeRenewedInTimeInterruptsTheHandler() throws Exception {
        String id = store.add(message("a")).get(0);
        source.beforeRenew = WatchedSource.DOWN;

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            time.passForPoller(LEASE);
            await().until(() -> gate.interrupted.contains(id));
            await().until(() -> events.lost().equals(List.of(id)));
        }

        assertThat(status(store, id)).isEqualTo(Status.PROCESSING);
    }

    /** The source may have prolonged it when it was asked, not when its answer came. */
    @Test
    void aRenewalThatTakesLongProlongsTheLeaseFromWhenItWasAskedFor() throws Exception {
        String id = store.add(message("a")).get(0);
        Duration half = LEASE.dividedBy(2);

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            source.beforeRenew = () -> {
                source.beforeRenew = WatchedSource.DOWN; // there is no second one
                time.passForPoller(half);
            };
            passAThird();
            time.passForPoller(half);

            await().until(() -> events.lost().equals(List.of(id)));
        }
    }

    @Test
    void aWorkerPausedBetweenClaimAndDeliveryDeliversNothing() {
        List<String> ids = store.add(unkeyed(2));
        source.afterClaim = () -> time.passForPoller(LEASE);

        assertThat(poller(gate).build().pollOnce()).isEqualTo(2);

        assertThat(gate.begun).isEmpty();
        assertThat(source.settlements()).isEmpty();
        assertThat(events.lost()).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(store.items()).extracting(ItemState::status).containsOnly(Status.PROCESSING);
    }

    @Test
    void aWorkerPausedForJustLessThanItsLeaseDelivers() {
        store.add(unkeyed(2));
        source.afterClaim = () -> time.passForPoller(LEASE.minusNanos(1));
        gate.open();

        poller(gate).build().pollOnce();

        assertThat(gate.delivered).hasSize(2);
    }

    @Test
    void aStartedPollerThatWasPausedDeliversNothingEither() {
        String id = store.add(message("a")).get(0);
        source.afterClaim = () -> time.passForPoller(LEASE);

        try (Poller poller = poller(gate).start()) {
            await().until(() -> events.lost().contains(id));
        }

        assertThat(gate.begun).isEmpty();
        assertThat(source.settlements()).isEmpty();
        assertThat(events.lost()).containsExactly(id);
    }

    @Test
    void whatWaitedForAWorkerPastItsLeaseIsNotGivenBack() {
        String id = store.add(message("a")).get(0);
        source.afterClaim = () -> time.passForPoller(LEASE);

        try (Poller poller = poller(gate).executor(task -> {}).start()) {
            await().until(() -> events.lost().contains(id));
        }

        assertThat(source.settlements()).isEmpty();
        assertThat(events.lost()).containsExactly(id);
    }

    @Test
    void theLeaseIsLookedAtBeforeEveryItemOfARun() {
        List<String> ids = store.add(run("k", 3));
        List<String> delivered = new CopyOnWriteArrayList<>();

        poller(item -> {
                    delivered.add(item.id());
                    time.passForPoller(LEASE.dividedBy(2));
                })
                .build()
                .pollOnce();

        assertThat(delivered).containsExactly(ids.get(0), ids.get(1));
        assertThat(events.lost()).containsExactly(ids.get(2));
        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
    }

    @Test
    void theLeaseIsCountedFromBeforeTheClaimWasSent() {
        store.add(message("a"));
        source.beforeClaim = () -> time.passForPoller(LEASE);

        poller(gate).build().pollOnce();

        assertThat(gate.begun).isEmpty();
    }

    @Test
    void aDeliveryThatTakesTooLongIsInterruptedAndCountsAsFailed() throws Exception {
        List<String> ids = store.add(run("k", 2));

        try (Poller poller = poller(gate).maxDeliveryTime(LEASE.multipliedBy(2)).start()) {
            gate.awaitArrival();
            for (int i = 0; i < 5; i++) {
                passAThird();
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

        try (Poller poller =
                poller(item -> stubbornly(begun, end)).maxDeliveryTime(LEASE).start()) {
            begun.await();
            for (int i = 0; i < 5; i++) {
                passAThird();
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
        try (Poller poller =
                poller(item -> {}).executor(forgetful).maxDeliveryTime(LEASE).start()) {
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

        try (Poller poller =
                poller(item -> stubbornly(begun, end)).maxDeliveryTime(LEASE).start()) {
            begun.await();
            passAThird();
            passAThird();
            int renewals = source.renewCalls.get();
            for (int i = 0; i < 4; i++) {
                time.pass(THIRD);
                time.awaitRenewer();
            }

            assertThat(claimAsRival(rival).items()).extracting(WorkItem::id).containsExactly(id);
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

        try (Poller poller = poller(item -> {
                    if (item.id().equals(ids.get(0))) {
                        stubbornly(begun, end);
                    }
                })
                .maxDeliveryTime(LEASE)
                .start()) {
            begun.await();
            passAThird();
            passAThird();
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

        try (Poller poller = poller(item -> {
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
            passAThird();
            passAThird();
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
