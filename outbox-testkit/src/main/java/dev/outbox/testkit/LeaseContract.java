package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.LEASE;
import static dev.outbox.testkit.SourceScenario.MAX_ATTEMPTS;
import static dev.outbox.testkit.SourceScenario.MOST_PUT_OFF;
import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.TOPIC;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** How long a lease lasts, and what happens to an item whose worker disappears. */
interface LeaseContract {
    @Test
    default void anItemIsNotClaimableBeforeItsLeaseRunsOut(SourceScenario store) {
        store.enqueueAll(times(3, message()));
        store.claimAll(store.newSource());
        Source other = store.newSource();

        store.advance(LEASE.minusMinutes(1));

        assertThat(store.claimAll(other).ids()).isEmpty();
    }

    @Test
    default void anItemWhoseLeaseRanOutIsClaimableByAnotherSource(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        store.claimAll(store.newSource());
        Source other = store.newSource();
        assertThat(store.claimAll(other).ids()).isEmpty();

        store.advance(PAST_LEASE);

        assertThat(store.claimAll(other).ids()).containsExactlyElementsOf(ids);
    }

    @Test
    default void aClaimReportsTheItemsThatItReclaimed(SourceScenario store) {
        Message message = store.keyedIfPossible("a", message().payload("not needed to name it"));
        String id = store.enqueue(message);
        store.claimAll(store.newSource());
        Source other = store.newSource();
        assertThat(store.claimAll(other).reclaimed()).isEmpty();

        store.advance(PAST_LEASE);
        Claims claims = store.claimAll(other);

        assertThat(claims.dead()).isEmpty();
        assertThat(claims.reclaimed()).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(id);
            assertThat(item.topic()).isEqualTo(TOPIC);
            assertThat(item.key()).isEqualTo(message.key());
            assertThat(item.attempt()).isEqualTo(1);
            assertThat(item.payload()).isEmpty();
        });
        assertThat(claims.items()).extracting(WorkItem::payload).containsExactly("not needed to name it");
    }

    @Test
    default void anItemThatBecameDeadWasNotReclaimed(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.claimAll(source);
        for (int attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
            assertThat(store.claimExpired(source, atMost(10)).ids()).containsExactly(id);
        }

        Claims claims = store.claimExpired(source, atMost(10));

        assertThat(claims.dead()).containsExactly(id);
        assertThat(claims.reclaimed()).isEmpty();
    }

    @Test
    default void anItemWhoseLeaseRanOutIsFoundUnderSteadyTraffic(SourceScenario store) {
        String lost = store.enqueue(message());
        store.claimAll(store.newSource());
        Source other = store.newSource();
        store.enqueueAll(times(20, message()));
        store.settleDone(other, store.claimAll(other).leases());

        store.advance(PAST_LEASE);
        store.enqueueAll(times(20, message()));

        assertThat(store.claimAll(other).ids()).contains(lost);
    }

    @Test
    default void anAttemptThatEndedWithTheLeaseCounts(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.claimAll(source);

        store.advance(PAST_LEASE);

        assertThat(store.claimAll(source).items()).extracting(WorkItem::attempt).containsExactly(2);
        assertThat(store.state(id).attempts()).isEqualTo(2);
    }

    @Test
    default void aWorkerThatLostItsLeaseCanChangeNothing(SourceScenario store) {
        String id = store.enqueue(message());
        Source slow = store.newSource();
        Source other = store.newSource();
        Lease lost = store.claimAll(slow).lease(id);
        store.advance(PAST_LEASE);
        Lease held = store.claimAll(other).lease(id);
        ItemState before = store.state(id);

        for (Settlement settlement : List.of(
                Settlement.done(lost),
                Settlement.retry(lost, Duration.ZERO, "late"),
                Settlement.dead(lost, "late"),
                Settlement.release(lost, false))) {
            assertThat(slow.settle(List.of(settlement)).lost()).containsExactly(lost);
        }
        assertThat(slow.renew(List.of(lost), LEASE).lost()).containsExactly(lost);

        assertThat(before.status()).isEqualTo(Status.PROCESSING);
        assertThat(before.attempts()).isEqualTo(2);
        assertThat(store.state(id)).isEqualTo(before);
        store.settle(other, Settlement.done(held));
    }

    @Test
    default void aLateSettleCountsAsLongAsNobodyTookTheItem(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        Lease lease = store.claimAll(source).lease(id);

        store.advance(PAST_LEASE);

        store.settle(source, Settlement.done(lease));
        store.assertDone(List.of(id));
    }

    @Test
    default void anItemWhoseAttemptsAreUsedUpBecomesDeadAndIsReported(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        for (int attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
            Lease lease = store.claimAll(source).lease(id);
            store.settle(source, Settlement.retry(lease, Duration.ZERO, "failed"));
            store.aMomentLater();
        }
        store.claimAll(source);
        store.advance(PAST_LEASE);

        Claims claims = store.claimAll(store.newSource());

        assertThat(claims.ids()).isEmpty();
        assertThat(claims.dead()).containsExactly(id);
        assertThat(store.state(id).status()).isEqualTo(Status.DEAD);
        assertThat(store.state(id).attempts()).isEqualTo(MAX_ATTEMPTS);
    }

    @Test
    default void anItemThatIsReportedDeadIsReportedOnce(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.claimAll(source);
        for (int attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
            assertThat(store.claimExpired(source, atMost(100)).ids()).containsExactly(id);
        }
        assertThat(store.claimExpired(source, atMost(100)).dead()).containsExactly(id);

        store.advance(PAST_LEASE);

        assertThat(store.claimAll(source).dead()).isEmpty();
        assertThat(store.claimAll(store.newSource()).dead()).isEmpty();
    }

    @Test
    default void anItemThatKillsItsWorkersEndsDeadAfterItsLastAttempt(SourceScenario store) {
        String id = store.enqueue(message());

        assertThat(store.claimAll(store.newSource()).ids()).containsExactly(id);
        for (int attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
            Claims claims = store.claimExpired(store.newSource(), atMost(100));
            assertThat(claims.items()).extracting(WorkItem::attempt).containsExactly(attempt);
            assertThat(claims.dead()).isEmpty();
        }

        Claims last = store.claimExpired(store.newSource(), atMost(100));
        assertThat(last.ids()).isEmpty();
        assertThat(last.dead()).containsExactly(id);
        store.assertStatus(Status.DEAD, List.of(id));
    }

    @Test
    default void aRenewedLeaseLastsFromTheRenewalOn(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(2, message()));
        Source source = store.newSource();
        Source other = store.newSource();
        Claims claims = store.claimAll(source);

        store.advance(LEASE.minusMinutes(2));
        assertThat(source.renew(claims.leases(), LEASE).lost()).isEmpty();
        store.advance(LEASE.minusMinutes(2));
        assertThat(store.claimAll(other).ids())
                .as("past the end of the first lease")
                .isEmpty();

        store.advance(LEASE);
        assertThat(store.claimAll(other).items())
                .as("past the end of the renewed lease")
                .extracting(WorkItem::id)
                .containsExactlyElementsOf(ids);
    }

    @Test
    default void aRenewalCountsNoAttemptAndKeepsTheToken(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        Lease lease = store.claimAll(source).lease(id);

        assertThat(source.renew(List.of(lease), LEASE).lost()).isEmpty();
        assertThat(source.renew(List.of(lease), LEASE).lost()).isEmpty();

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
        store.settle(source, Settlement.done(lease));
    }

    @Test
    default void aRenewalAnswersTheLeasesThatAreLost(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        store.settle(
                source,
                Settlement.done(claims.lease(ids.get(0))),
                Settlement.release(claims.lease(ids.get(1)), false),
                Settlement.dead(claims.lease(ids.get(2)), "died"));
        Lease wrong = new Lease(ids.get(3), UUID.randomUUID().toString());
        Lease unknown =
                new Lease(UUID.randomUUID().toString(), UUID.randomUUID().toString());
        List<Lease> lost =
                List.of(claims.lease(ids.get(0)), claims.lease(ids.get(1)), claims.lease(ids.get(2)), wrong, unknown);

        for (Lease lease : lost) {
            assertThat(source.renew(List.of(lease, claims.lease(ids.get(4))), LEASE)
                            .lost())
                    .containsExactly(lease);
        }
    }

    @Test
    default void renewingNothingLosesNothing(SourceScenario store) {
        assertThat(store.newSource().renew(List.of(), LEASE).lost()).isEmpty();
    }

    /** More items than any source looks for at once. */
    @Test
    default void allOfManyItemsWhoseLeasesRanOutAreFoundAtOnce(SourceScenario store) {
        int many = 1_200;
        List<String> ids = store.enqueueAll(times(many, message()));
        assertThat(store.claimAll(store.newSource(), atMost(500)).ids()).hasSize(many);
        Source other = store.newSource();

        store.advance(PAST_LEASE);

        assertThat(store.claimAll(other, atMost(500)).ids()).containsExactlyInAnyOrderElementsOf(ids);
    }

    /** What kills its worker takes along what was claimed with it: next time it is claimed with others. */
    @Test
    default void itemsWhoseLeasesRanOutAgainComeBackAtDifferentTimes(SourceScenario store) {
        store.assumeHas(Feature.SPREAD_EXPIRY);
        List<String> ids = store.enqueueAll(times(100, message()));
        Source source = store.newSource();
        store.claimAll(source);
        store.advance(PAST_LEASE);
        assertThat(store.claimAll(source).ids()).as("the first time, at once").hasSameSizeAs(ids);

        store.advance(PAST_LEASE);
        Claims atOnce = store.claimAll(source);
        store.advance(MOST_PUT_OFF);
        Claims later = store.claimAll(source);

        assertThat(atOnce.ids()).hasSizeLessThan(ids.size());
        assertThat(Stream.concat(atOnce.ids().stream(), later.ids().stream())).containsExactlyInAnyOrderElementsOf(ids);
    }
}
