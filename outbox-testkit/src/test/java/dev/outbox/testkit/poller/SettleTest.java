package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.status;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
@SuppressWarnings("try")
class SettleTest {
    private static final Duration LEASE = Duration.ofSeconds(30);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);
    private final WatchedSource source = new WatchedSource(store.source());
    private final Source rival = store.source();
    private final Events events = new Events();
    private final List<String> delivered = new CopyOnWriteArrayList<>();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(source).to(destination).listener(events).lease(LEASE).ticker(time::ticker);
    }

    @Test
    void aSettleThatFailsIsTriedAgainAndTheItemSettledOnce() {
        String id = store.add(message("a")).get(0);
        AtomicInteger failures = new AtomicInteger(3);
        source.beforeSettle = () -> {
            if (failures.getAndDecrement() > 0) {
                WatchedSource.DOWN.run();
            }
        };

        try (Poller poller = poller(item -> delivered.add(item.id())).start()) {
            awaitAllDone(store);
        }

        assertThat(delivered).containsExactly(id);
        assertThat(source.settleCalls).hasValue(4);
        assertThat(source.settlements())
                .containsExactly(Settlement.done(
                        source.claims.get(0).lease(source.claims.get(0).items().get(0))));
        assertThat(events.count(OutboxEvent.PollFailed.class)).isEqualTo(3);
        assertThat(events.count(OutboxEvent.Done.class)).isOne();
    }

    @Test
    void verdictsKeepTheirOrderWhenASettleFails() {
        List<String> ids = store.add(run("k", 20));
        CountDownLatch firstSettles = new CountDownLatch(1);
        CountDownLatch allDelivered = new CountDownLatch(20);
        source.beforeSettle = () -> {
            firstSettles.countDown();
            awaitQuietly(allDelivered);
            if (source.settleCalls.get() == 2) { // which holds all the others
                WatchedSource.DOWN.run();
            }
        };

        try (Poller poller = poller(item -> {
                    if (!delivered.isEmpty()) {
                        firstSettles.await();
                    }
                    delivered.add(item.id());
                    allDelivered.countDown();
                })
                .start()) {
            awaitAllDone(store);
        }

        assertThat(delivered).isEqualTo(ids);
        assertThat(source.settlements())
                .extracting(settlement -> settlement.lease().itemId())
                .isEqualTo(ids);
    }

    @Test
    void whatCouldNotBeSettledBeforeItsLeaseEndedIsDroppedAndDeliveredAgain() {
        String id = store.add(message("a")).get(0);
        source.beforeSettle = WatchedSource.DOWN;
        source.beforeRenew = WatchedSource.DOWN;

        try (Poller poller = poller(item -> delivered.add(item.id())).start()) {
            await().until(() -> source.settleCalls.get() > 0);
            time.pass(LEASE);
            await().until(() -> events.lost().contains(id));
            source.up();
            awaitAllDone(store);
        }

        assertThat(delivered).containsExactly(id, id);
        assertThat(events.count(OutboxEvent.Done.class)).isOne();
    }

    @Test
    void aSettleThatComesTooLateIsReportedAsFencedAndChangesNothing() {
        String id = store.add(message("a")).get(0);
        AtomicReference<Claim> taken = new AtomicReference<>();

        try (CapturedLog log = new CapturedLog()) {
            poller(item -> {
                        time.passInStore(LEASE);
                        taken.set(claimAsRival(rival));
                    })
                    .name("late")
                    .build()
                    .pollOnce();

            assertThat(log.warnings())
                    .anyMatch(line -> line.contains("poller late: the settle was fenced, the lease was lost: table")
                            && line.contains("item " + id));
        }

        assertThat(events.of(OutboxEvent.Fenced.class))
                .extracting(fenced -> fenced.item().id())
                .containsExactly(id);
        assertThat(events.count(OutboxEvent.Done.class)).isZero();
        assertThat(status(store, id)).isEqualTo(Status.PROCESSING);
        assertThat(rival.settle(List.of(Settlement.done(
                                taken.get().lease(taken.get().items().get(0)))))
                        .lost())
                .isEmpty();
    }

    @Test
    void verdictsOfSeveralClaimsInOneSettleCarryTheTokenOfTheirOwnClaim() throws Exception {
        CountDownLatch settling = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        source.beforeSettle = () -> {
            settling.countDown();
            awaitQuietly(goOn);
        };

        try (Poller poller =
                poller(item -> delivered.add(item.id())).idle(HOUR, HOUR).start()) {
            store.add(message("first"));
            poller.wakeUp();
            settling.await();
            for (int i = 0; i < 3; i++) {
                String id = store.add(message("next")).get(0);
                poller.wakeUp();
                await().until(() -> delivered.contains(id));
            }
            goOn.countDown();
            awaitAllDone(store);
        }

        assertThat(source.settles)
                .as("several claims came together in one settle")
                .anySatisfy(settlements -> assertThat(settlements)
                        .extracting(settlement -> settlement.lease().ownerToken())
                        .hasSizeGreaterThan(1)
                        .doesNotHaveDuplicates());
        assertThat(source.settlements())
                .hasSize(4)
                .allSatisfy(settlement -> assertThat(source.claims)
                        .filteredOn(claim ->
                                claim.ownerToken().equals(settlement.lease().ownerToken()))
                        .flatExtracting(Claim::items)
                        .extracting(item -> item.id())
                        .containsExactly(settlement.lease().itemId()));
        assertThat(events.count(OutboxEvent.Fenced.class)).isZero();
    }

    @Test
    void aRetryAndTheReleaseOfTheRestOfItsRunAreOneSettle() {
        List<String> ids = store.add(run("k", 3));

        poller(item -> {
                    throw new IOException("down");
                })
                .build()
                .pollOnce();

        assertThat(source.settles).singleElement().satisfies(settlements -> {
            assertThat(settlements)
                    .extracting(settlement -> settlement.lease().itemId())
                    .isEqualTo(ids);
            assertThat(settlements)
                    .extracting(Settlement::kind)
                    .containsExactly(Settlement.Kind.RETRY, Settlement.Kind.RELEASE, Settlement.Kind.RELEASE);
            assertThat(settlements).extracting(Settlement::attemptsGivenBack).containsExactly(0, 1, 1);
        });
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
