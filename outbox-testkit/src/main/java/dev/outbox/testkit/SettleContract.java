package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How a lease ends: done, retry, dead, release; and that only its owner can end it. */
interface SettleContract {
    Duration DELAY = Duration.ofMinutes(30);

    @Test
    default void aDoneItemIsDoneForGood(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        Source source = store.newSource();

        store.settleDone(source, store.claimAll(source).leases());

        store.assertDone(ids);
        store.advance(PAST_LEASE);
        assertThat(store.claimAll(source).ids()).isEmpty();
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
    }

    @Test
    default void aRetriedItemIsReadyWithItsErrorAndItsAttempt(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();

        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), DELAY, "broker is down"));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 1, "broker is down"));
    }

    @Test
    default void aRetriedItemIsClaimableOnlyAfterItsDelay(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), DELAY, "broker is down"));

        store.advance(DELAY.minusMinutes(1));
        assertThat(store.claimAll(source).ids()).isEmpty();
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();

        store.advance(Duration.ofMinutes(2));
        assertThat(store.claimAll(source).items())
                .extracting(WorkItem::id, WorkItem::attempt)
                .containsExactly(tuple(id, 2));
    }

    @Test
    default void aRetriedItemIsFoundByAnotherSourceToo(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        Source source = store.newSource();
        Source other = store.newSource();
        Claims claims = store.claimAll(source);
        assertThat(store.claimAll(other).ids()).isEmpty();
        store.settle(
                source,
                Settlement.done(claims.lease(ids.get(0))),
                Settlement.retry(claims.lease(ids.get(1)), DELAY, "broker is down"),
                Settlement.done(claims.lease(ids.get(2))));

        store.advance(DELAY.plusMinutes(1));

        assertThat(store.claimAll(other).ids()).containsExactly(ids.get(1));
    }

    @Test
    default void aRetryAfterGivesTheAttemptBack(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();

        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), DELAY, "slow down", 1));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 0, "slow down"));
        assertThat(store.claimAll(source).ids()).isEmpty();
        store.advance(DELAY.plusMinutes(1));
        assertThat(store.claimAll(source).items()).extracting(WorkItem::attempt).containsExactly(1);
    }

    @Test
    default void aRetryGivesBackAsManyAttemptsAsItSays(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        for (int i = 0; i < 2; i++) {
            store.settle(source, Settlement.retry(store.claimAll(source).lease(id), DELAY, "broker is down"));
            store.advance(DELAY.plusMinutes(1));
        }

        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), DELAY, "broker is down", 3));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 0, "broker is down"));
    }

    @Test
    default void aDeadItemKeepsItsErrorAndIsNeverClaimedAgain(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();

        store.settle(source, Settlement.dead(store.claimAll(source).lease(id), "no such account"));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.DEAD, 1, "no such account"));
        store.advance(Duration.ofDays(30));
        assertThat(store.claimAll(source).ids()).isEmpty();
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
    }

    @Test
    default void aRequeuedItemStartsFromItsFirstAttempt(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.settle(source, Settlement.dead(store.claimAll(source).lease(id), "no such account"));

        store.requeue(id);
        store.aMomentLater();

        assertThat(store.claimAll(source).items()).extracting(WorkItem::attempt).containsExactly(1);
    }

    @Test
    default void aReleaseBeforeDeliveryGivesTheAttemptBack(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();

        store.settle(source, Settlement.release(store.claimAll(source).lease(id), false));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 0, null));
        store.aMomentLater();
        assertThat(store.claimAll(store.newSource()).items())
                .extracting(WorkItem::attempt)
                .containsExactly(1);
    }

    @Test
    default void aReleaseAfterDeliveryBeganKeepsTheAttempt(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();

        store.settle(source, Settlement.release(store.claimAll(source).lease(id), true));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 1, null));
        store.aMomentLater();
        assertThat(store.claimAll(source).items()).extracting(WorkItem::attempt).containsExactly(2);
    }

    @Test
    default void aReleaseLeavesTheErrorOfAnEarlierAttempt(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), Duration.ZERO, "broker is down"));
        store.aMomentLater();

        store.settle(source, Settlement.release(store.claimAll(source).lease(id), false));

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.READY, 1, "broker is down"));
    }

    @Test
    default void aSettleUnderAWrongTokenIsFencedAndChangesNothing(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        Lease lease = store.claimAll(source).lease(id);
        Lease wrong = new Lease(id, UUID.randomUUID().toString());

        for (Settlement settlement : List.of(
                Settlement.done(wrong),
                Settlement.retry(wrong, Duration.ZERO, "wrong"),
                Settlement.dead(wrong, "wrong"),
                Settlement.release(wrong, false))) {
            assertThat(source.settle(List.of(settlement)).lost()).containsExactly(wrong);
        }

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
        store.settle(source, Settlement.done(lease));
    }

    @Test
    default void theSecondSettleOfALeaseIsFenced(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        store.settle(
                source,
                Settlement.done(claims.lease(ids.get(0))),
                Settlement.retry(claims.lease(ids.get(1)), DELAY, "first"),
                Settlement.dead(claims.lease(ids.get(2)), "first"),
                Settlement.release(claims.lease(ids.get(3)), false));

        assertThat(source.settle(claims.leases().stream()
                                .map(lease -> Settlement.dead(lease, "second"))
                                .toList())
                        .lost())
                .containsExactlyInAnyOrderElementsOf(claims.leases());

        store.assertDone(ids.subList(0, 1));
        assertThat(store.state(ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "first"));
        assertThat(store.state(ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.DEAD, 1, "first"));
        assertThat(store.state(ids.get(3))).isEqualTo(new ItemState(ids.get(3), Status.READY, 0, null));
    }

    @Test
    default void aSettleOfAnItemThatDoesNotExistIsFenced(SourceScenario store) {
        Lease unknown =
                new Lease(UUID.randomUUID().toString(), UUID.randomUUID().toString());

        assertThat(store.newSource().settle(List.of(Settlement.done(unknown))).lost())
                .containsExactly(unknown);
    }

    @Test
    default void oneSettleTakesAnyMixOfOutcomesAndTokens(SourceScenario store) {
        Source one = store.newSource();
        Source two = store.newSource();
        List<String> ids = store.enqueueAll(times(3, message()));
        Claims first = store.claimAll(one);
        List<String> later = store.enqueueAll(times(3, message()));
        Claims second = store.claimAll(two);
        Lease wrong = new Lease(ids.get(2), second.lease(later.get(0)).ownerToken());
        Lease unknown =
                new Lease(UUID.randomUUID().toString(), first.leases().get(0).ownerToken());

        assertThat(one.settle(List.of(
                                Settlement.done(first.lease(ids.get(0))),
                                Settlement.retry(first.lease(ids.get(1)), DELAY, "retried"),
                                Settlement.done(wrong),
                                Settlement.dead(second.lease(later.get(0)), "died"),
                                Settlement.release(second.lease(later.get(1)), false),
                                Settlement.done(unknown),
                                Settlement.retry(second.lease(later.get(2)), DELAY, "asked to wait", 1)))
                        .lost())
                .containsExactlyInAnyOrder(wrong, unknown);

        store.assertDone(ids.subList(0, 1));
        assertThat(store.state(ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "retried"));
        assertThat(store.state(ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.PROCESSING, 1, null));
        assertThat(store.state(later.get(0))).isEqualTo(new ItemState(later.get(0), Status.DEAD, 1, "died"));
        assertThat(store.state(later.get(1))).isEqualTo(new ItemState(later.get(1), Status.READY, 0, null));
        assertThat(store.state(later.get(2))).isEqualTo(new ItemState(later.get(2), Status.READY, 0, "asked to wait"));
    }

    @Test
    default void settlingNothingChangesNothing(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.claimAll(source);

        assertThat(source.settle(List.of()).lost()).isEmpty();

        assertThat(store.state(id)).isEqualTo(new ItemState(id, Status.PROCESSING, 1, null));
    }

    @Test
    default void aLongErrorIsCut(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(2, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);

        store.settle(
                source,
                Settlement.retry(claims.lease(ids.get(0)), DELAY, "ä".repeat(5_000)),
                Settlement.dead(claims.lease(ids.get(1)), "x".repeat(Settlement.MAX_ERROR)));

        assertThat(store.state(ids.get(0)).lastError()).isEqualTo("ä".repeat(Settlement.MAX_ERROR));
        assertThat(store.state(ids.get(1)).lastError()).isEqualTo("x".repeat(Settlement.MAX_ERROR));
    }

    @Test
    default void anErrorThatIsNoProperTextDoesNotPreventTheSettle(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(2, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        String uncut = "x".repeat(Settlement.MAX_ERROR - 1);

        store.settle(
                source,
                Settlement.retry(claims.lease(ids.get(0)), DELAY, uncut + "🚀 is cut in the middle"),
                Settlement.retry(claims.lease(ids.get(1)), DELAY, "bad input: \u0000"));

        store.assertStatus(Status.READY, ids);
        assertThat(store.state(ids.get(0)).lastError()).startsWith(uncut);
        assertThat(store.state(ids.get(1)).lastError()).startsWith("bad input");
    }
}
