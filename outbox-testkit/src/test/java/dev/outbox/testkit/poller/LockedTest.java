package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.ForwardingSource;
import dev.outbox.testkit.InMemoryStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a poller does with items whose rows another transaction has locked. Time stands still unless a test moves it. */
@Timeout(60)
@SuppressWarnings("try")
class LockedTest {
    private static final Duration LEASE = Duration.ofMillis(60);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);
    private final LockedRows rows = new LockedRows(store.source());
    private final WatchedSource source = new WatchedSource(rows);
    private final Events events = new Events();
    private final Gate gate = new Gate();
    private final List<String> delivered = new CopyOnWriteArrayList<>();

    /** A source of which some rows are locked. */
    private static final class LockedRows extends ForwardingSource {
        private final Set<String> locked = ConcurrentHashMap.newKeySet();

        LockedRows(Source source) {
            super(source);
        }

        @Override
        public Unchanged settle(List<Settlement> settlements) {
            Set<Lease> passed =
                    locked(settlements.stream().map(Settlement::lease).toList());
            List<Settlement> others = settlements.stream()
                    .filter(settlement -> !passed.contains(settlement.lease()))
                    .toList();
            return new Unchanged(Set.of(), passed).and(super.settle(others));
        }

        @Override
        public Unchanged renew(List<Lease> leases, Duration length) {
            Set<Lease> passed = locked(leases);
            List<Lease> others = new ArrayList<>(leases);
            others.removeAll(passed);
            return new Unchanged(Set.of(), passed).and(super.renew(others, length));
        }

        private Set<Lease> locked(List<Lease> leases) {
            return leases.stream()
                    .filter(lease -> locked.contains(lease.itemId()))
                    .collect(Collectors.toSet());
        }
    }

    private PollerBuilder poller(Destination destination) {
        return Poller.from(source)
                .to(destination)
                .listener(events)
                .concurrency(1)
                .lease(LEASE)
                .idle(HOUR, HOUR)
                .drainTimeout(Duration.ZERO)
                .ticker(time::ticker);
    }

    @AfterEach
    void openTheGate() {
        gate.open();
    }

    @Test
    void aLockedItemIsSettledWhenItsLockIsGone() {
        List<String> ids = store.add(unkeyed(3));
        rows.locked.add(ids.get(1));

        try (Poller poller = poller(item -> delivered.add(item.id())).start()) {
            awaitStatus(store, ids.get(0), Status.DONE);
            awaitStatus(store, ids.get(2), Status.DONE);
            int tries = source.settleCalls.get();
            await("another try").until(() -> source.settleCalls.get() > tries);
            assertThat(status(store, ids.get(1))).isEqualTo(Status.PROCESSING);
            rows.locked.clear();
            awaitAllDone(store);
        }

        assertThat(delivered).containsExactlyElementsOf(ids);
        assertThat(events.count(OutboxEvent.Done.class)).isEqualTo(3);
    }

    @Test
    void laterVerdictsOfARunAreNotSettledBeforeALockedOne() {
        List<String> ids = store.add(run("k", 3));
        rows.locked.add(ids.get(0));

        try (Poller poller = poller(item -> delivered.add(item.id())).start()) {
            await("the first is locked").until(() -> source.settleCalls.get() > 0);
            await("all are delivered").until(() -> delivered.size() == 3);
            await("all are tried together").until(() -> source.settles.stream().anyMatch(settle -> settle.size() == 3));
            rows.locked.clear();
            awaitAllDone(store);
        }

        assertThat(source.settles)
                .allSatisfy(settle -> assertThat(settle.get(0).lease().itemId()).isEqualTo(ids.get(0)));
    }

    @Test
    void lockedItemsTakeNoRoom() {
        List<String> ids = store.add(unkeyed(50));
        rows.locked.addAll(ids.subList(0, 30));

        try (Poller poller =
                poller(item -> delivered.add(item.id())).batchSize(2).start()) {
            ids.subList(30, 50).forEach(id -> awaitStatus(store, id, Status.DONE));
            rows.locked.clear();
            awaitAllDone(store);
        }

        assertThat(delivered).containsExactlyElementsOf(ids);
    }

    @Test
    void aRunWithALockedRowIsLostAtItsDeadlineAndOthersAreNot() throws Exception {
        List<String> ids = store.add(message("locked"), message("waiting"));
        rows.locked.add(ids.get(0));

        try (Poller poller = poller(gate).start()) {
            gate.awaitArrival();
            for (int i = 0; i < 4; i++) {
                int before = events.count(OutboxEvent.Renewed.class);
                time.pass(LEASE.dividedBy(3));
                await("a renewal").until(() -> events.count(OutboxEvent.Renewed.class) > before);
            }
            await("the loss").until(() -> !events.lost().isEmpty());
        }

        assertThat(events.lost()).containsExactly(ids.get(0));
    }

    @Test
    void aSettleThatTakesItsTimeHoldsUpNoRenewal() throws Exception {
        CountDownLatch hangs = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        source.beforeSettle = () -> {
            hangs.countDown();
            awaitUninterruptibly(released);
        };
        List<String> ids = store.add(message("settled"), message("under way"));

        try (Poller poller = poller(item -> {
                    if (item.id().equals(ids.get(1))) {
                        gate.deliver(item);
                    }
                })
                .start()) {
            gate.awaitArrival();
            hangs.await();
            time.pass(LEASE.dividedBy(3));
            await("a renewal").until(() -> events.count(OutboxEvent.Renewed.class) > 0);
            released.countDown();
            gate.open();
            awaitAllDone(store);
        } finally {
            released.countDown();
        }

        assertThat(events.lost()).isEmpty();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
