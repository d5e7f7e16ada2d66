package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.ManualClock;
import java.io.IOException;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@SuppressWarnings("try")
class TransactionalDeliveryTest {
    private final ManualClock clock = new ManualClock();
    private final InMemoryStore store = new InMemoryStore(clock);
    private final TransactionalFake source = new TransactionalFake(store.source());
    private final Events events = new Events();

    private PollerBuilder poller(TransactionalDestination destination) {
        return Poller.from(source).inTransaction(destination).listener(events);
    }

    @Test
    void aSourceWithoutTransactionsIsRefusedAndTheErrorSaysWhatToDo() {
        Source plain = new WatchedSource(store.source());

        assertThatThrownBy(() -> Poller.from(plain).inTransaction((tx, item) -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("inTransaction(...) needs a TransactionalSource, but " + WatchedSource.class.getName()
                        + " is none; use to(...)");
    }

    @Test
    void effectAndSettleCommitTogether() {
        List<String> ids = store.add(run("k", 3));

        poller((tx, item) -> source.effect(tx, item.payload())).build().pollOnce();

        assertThat(source.committed).containsExactly("0", "1", "2");
        assertThat(ids).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.DONE));
        assertThat(events.count(OutboxEvent.Done.class)).isEqualTo(3);
        assertThat(source.open).hasValue(0);
    }

    @Test
    void theEffectOfAFailedHandlerIsRolledBackAndItsRunStops() {
        List<String> ids = store.add(run("k", 3));

        poller((tx, item) -> {
                    source.effect(tx, item.payload());
                    if (item.payload().equals("1")) {
                        throw new IOException("down");
                    }
                })
                .build()
                .pollOnce();

        assertThat(source.committed).containsExactly("0");
        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
        assertThat(state(store, ids.get(1)))
                .isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "java.io.IOException: down"));
        assertThat(state(store, ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.READY, 0, null));
        assertThat(source.open).hasValue(0);
    }

    @Test
    void anErrorAfterTheCommitKeepsNoRoom() {
        int count = 5;
        store.add(unkeyed(count));
        Set<Thread> committed = ConcurrentHashMap.newKeySet();
        LongSupplier failsAfterACommit = () -> {
            if (committed.remove(Thread.currentThread())) {
                throw new LinkageError("after the commit");
            }
            return 0;
        };
        source.afterCommit = () -> committed.add(Thread.currentThread());

        try (Poller poller =
                poller((tx, item) -> {}).batchSize(1).ticker(failsAfterACommit).start()) {
            awaitAllDone(store);
        }

        assertThat(events.count(OutboxEvent.Done.class)).isEqualTo(count);
        assertThat(events.count(OutboxEvent.ErrorSurvived.class)).isEqualTo(count);
    }

    @Test
    void aPermanentFailureIsRolledBackAndDead() {
        String id = store.add(message("a")).get(0);

        poller((tx, item) -> {
                    source.effect(tx, item.payload());
                    throw new PermanentFailureException("no");
                })
                .build()
                .pollOnce();

        assertThat(source.committed).isEmpty();
        assertThat(status(store, id)).isEqualTo(Status.DEAD);
    }

    @Test
    void theEffectOfAWorkerThatLostItsLeaseIsRolledBackAndReportedAsFenced() {
        List<String> ids = store.add(run("k", 2));

        poller((tx, item) -> {
                    source.effect(tx, item.payload());
                    clock.advance(Duration.ofSeconds(30));
                    claimAsRival(store.source());
                })
                .build()
                .pollOnce();

        assertThat(source.committed).isEmpty();
        assertThat(events.of(OutboxEvent.Fenced.class).get(0).item().id()).isEqualTo(ids.get(0));
        assertThat(events.count(OutboxEvent.Done.class)).isZero();
        assertThat(ids).allSatisfy(id -> assertThat(status(store, id)).isEqualTo(Status.PROCESSING));
    }

    @Test
    void aCommitThatFailsIsAFailedAttempt() {
        String id = store.add(message("a")).get(0);
        source.failNextCommit();

        poller((tx, item) -> source.effect(tx, item.payload())).build().pollOnce();

        assertThat(source.committed).isEmpty();
        assertThat(state(store, id).status()).isEqualTo(Status.READY);
        assertThat(state(store, id).lastError()).contains("commit failed");
    }

    /** The renewal would wait for the transaction, and others would wait for the renewal. */
    @Test
    void anItemThatItsTransactionIsSettlingIsNotRenewed() throws Exception {
        TestTime time = new TestTime();
        InMemoryStore timed = new InMemoryStore(time.store);
        List<String> ids = timed.add(message("settles"), message("works"));
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch end = new CountDownLatch(1);
        TransactionalFake slow = new TransactionalFake(timed.source()) {
            @Override
            public Set<Lease> settle(Connection tx, List<Settlement> settlements) {
                begun.countDown();
                awaitIt(end);
                return super.settle(tx, settlements);
            }
        };

        try (Poller poller = Poller.from(slow)
                .inTransaction((tx, item) -> {
                    if (item.payload().equals("works")) {
                        begun.countDown();
                        awaitIt(end);
                    }
                })
                .concurrency(2)
                .lease(Duration.ofMillis(60))
                .idle(Fixture.HOUR, Fixture.HOUR)
                .ticker(time::ticker)
                .listener(events)
                .start()) {
            begun.await();
            time.pass(Duration.ofMillis(20));
            Fixture.await().until(() -> events.count(OutboxEvent.Renewed.class) > 0);
            end.countDown();
            awaitAllDone(timed);
        }

        assertThat(events.of(OutboxEvent.Renewed.class))
                .flatExtracting(OutboxEvent.Renewed::leases)
                .extracting(Lease::itemId)
                .contains(ids.get(1))
                .doesNotContain(ids.get(0));
    }

    private static void awaitIt(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void claimsGoOnAsSoonAsThereIsRoom() {
        store.add(unkeyed(100));

        // one by one, so that waiting a second for room each time would take longer than the test has
        try (Poller poller = poller((tx, item) -> source.effect(tx, item.payload()))
                .batchSize(1)
                .concurrency(1)
                .start()) {
            awaitAllDone(store);
        }

        assertThat(source.committed)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, 100).mapToObj(String::valueOf).toList());
    }
}
