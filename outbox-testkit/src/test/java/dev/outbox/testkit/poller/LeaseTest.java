package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.claimAsRival;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static dev.outbox.testkit.poller.LeasedPoller.LEASE;
import static dev.outbox.testkit.poller.LeasedPoller.THIRD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Time stands still unless a test moves it, so a slow machine cannot lose a lease by accident. */
@Timeout(60)
@SuppressWarnings("try")
class LeaseTest {
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
    void aLongDeliveryAndWhatWaitsBehindItKeepTheirLeases() throws Exception {
        List<String> ids = store.add(run("k", 2));
        String waiting = store.add(message("waiting")).get(0);

        try (Poller poller = leased.poller(gate).start()) {
            gate.awaitArrival();
            for (int i = 0; i < 12; i++) {
                leased.passAThird();
                assertThat(claimAsRival(leased.rival).items())
                        .as("after %d thirds", i)
                        .isEmpty();
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

        try (Poller poller = leased.poller(gate).start()) {
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

        try (Poller poller = leased.poller(gate).start()) {
            gate.awaitArrival();
            await("it has seen everything and is idle").until(() -> source.claims.size() == 2);
            time.passInStore(LEASE);
            Claim taken = claimAsRival(leased.rival);
            assertThat(taken.items()).extracting(WorkItem::id).isEqualTo(ids);
            time.passForPoller(THIRD);

            await().until(() -> !gate.interrupted.isEmpty());
            await().until(() -> events.count(OutboxEvent.LeaseLost.class) > 0);
            poller.close();

            assertThat(gate.interrupted).containsExactly(ids.get(0));
            assertThat(gate.begun).as("nothing more of the run was delivered").containsExactly(ids.get(0));
            assertThat(source.settlements()).as("nothing of it was settled").isEmpty();
            assertThat(events.lost()).as("each is reported once").containsExactlyElementsOf(ids);
            assertThat(leased.rival
                            .settle(taken.items().stream()
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

        try (Poller poller = leased.poller(gate).start()) {
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

        try (Poller poller = leased.poller(gate).start()) {
            gate.awaitArrival();
            source.beforeRenew = () -> {
                source.beforeRenew = WatchedSource.DOWN; // there is no second one
                time.passForPoller(half);
            };
            leased.passAThird();
            time.passForPoller(half);

            await().until(() -> events.lost().equals(List.of(id)));
        }
    }

    @Test
    void aWorkerPausedBetweenClaimAndDeliveryDeliversNothing() {
        List<String> ids = store.add(unkeyed(2));
        source.afterClaim = () -> time.passForPoller(LEASE);

        assertThat(leased.poller(gate).build().pollOnce()).isEqualTo(2);

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

        leased.poller(gate).build().pollOnce();

        assertThat(gate.delivered).hasSize(2);
    }

    @Test
    void aStartedPollerThatWasPausedDeliversNothingEither() {
        String id = store.add(message("a")).get(0);
        source.afterClaim = () -> time.passForPoller(LEASE);

        try (Poller poller = leased.poller(gate).start()) {
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

        try (Poller poller = leased.poller(gate).executor(task -> {}).start()) {
            await().until(() -> events.lost().contains(id));
        }

        assertThat(source.settlements()).isEmpty();
        assertThat(events.lost()).containsExactly(id);
    }

    @Test
    void theLeaseIsLookedAtBeforeEveryItemOfARun() {
        List<String> ids = store.add(run("k", 3));
        List<String> delivered = new CopyOnWriteArrayList<>();

        leased.poller(item -> {
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

        leased.poller(gate).build().pollOnce();

        assertThat(gate.begun).isEmpty();
    }
}
