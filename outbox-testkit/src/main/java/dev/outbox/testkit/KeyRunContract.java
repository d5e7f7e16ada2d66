package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.LEASE;
import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A claim takes a run of consecutive items of a key; what becomes of the run when some of it is settled. */
interface KeyRunContract {
    Duration RETRY_DELAY = Duration.ofMinutes(30);

    private static List<String> ids(Claim claim) {
        return claim.items().stream().map(WorkItem::id).toList();
    }

    private static Lease lease(Claim claim, String id) {
        return new Lease(id, claim.ownerToken());
    }

    @Test
    default void aClaimTakesARunOfOneKeyInOrder(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(8, keyed("a")));
        Source source = store.newSource();

        Claim first = store.claimSome(source, atMost(5));
        store.settleDone(source, first);
        Claim second = store.claimSome(source, atMost(5));

        assertThat(ids(first)).containsExactlyElementsOf(ids.subList(0, 5));
        assertThat(ids(second)).containsExactlyElementsOf(ids.subList(5, 8));
        assertThat(first.items()).extracting(WorkItem::attempt).containsOnly(1);
    }

    @Test
    default void aSettledPrefixKeepsTheRestOfTheRunLeased(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, keyed("a")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(4));

        store.settle(
                source, Settlement.done(lease(run, ids.get(0))), Settlement.dead(lease(run, ids.get(1)), "poison"));

        store.assertStatus(Status.PROCESSING, ids.subList(2, 4));
        store.assertStatus(Status.READY, ids.subList(4, 5));
        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).isEmpty();
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
        store.settle(source, Settlement.done(lease(run, ids.get(2))), Settlement.done(lease(run, ids.get(3))));
    }

    @Test
    default void aRetryInTheMiddleOfARunGivesBackEveryLaterItem(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, keyed("a")));
        List<String> other = store.enqueueAll(times(2, keyed("b")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(10));
        assertThat(ids(run)).containsAll(ids).containsAll(other);

        store.settle(
                source,
                Settlement.done(lease(run, ids.get(0))),
                Settlement.done(lease(run, ids.get(1))),
                Settlement.retry(lease(run, ids.get(2)), RETRY_DELAY, "failed"));

        assertThat(store.state(ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.READY, 1, "failed"));
        assertThat(store.state(ids.get(3))).isEqualTo(new ItemState(ids.get(3), Status.READY, 0, null));
        assertThat(store.state(ids.get(4))).isEqualTo(new ItemState(ids.get(4), Status.READY, 0, null));
        store.assertStatus(Status.PROCESSING, other);
        Lease givenBack = lease(run, ids.get(4));
        assertThat(source.settle(List.of(Settlement.done(givenBack))).lost()).containsExactly(givenBack);
        assertThat(source.renew(List.of(givenBack), LEASE).lost()).containsExactly(givenBack);
    }

    @Test
    default void afterARetryTheKeyGoesOnAtTheRetriedItem(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(10));
        store.settle(
                source,
                Settlement.done(lease(run, ids.get(0))),
                Settlement.retry(lease(run, ids.get(1)), RETRY_DELAY, "failed"));

        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).isEmpty();
        store.advance(RETRY_DELAY);
        Claims next = store.claimAll(source);

        assertThat(next.ids()).containsExactlyElementsOf(ids.subList(1, 4));
        assertThat(next.items()).extracting(WorkItem::attempt).containsExactly(2, 1, 1);
    }

    @Test
    default void aReleaseOfTheHeadGivesBackTheRun(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(3));

        store.settle(source, Settlement.release(lease(run, ids.get(0)), true));

        store.assertStatus(Status.READY, ids);
        store.aMomentLater();
        Claims next = store.claimAll(store.newSource());
        assertThat(next.ids()).containsExactlyElementsOf(ids);
        assertThat(next.items()).extracting(WorkItem::attempt).containsExactly(2, 1, 1, 1);
    }

    @Test
    default void itemsOfARunThatAreReleasedTogetherAreGivenBackOnce(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(4));

        store.settle(
                source,
                Settlement.done(lease(run, ids.get(0))),
                Settlement.retry(lease(run, ids.get(1)), RETRY_DELAY, "failed"),
                Settlement.release(lease(run, ids.get(2)), false),
                Settlement.release(lease(run, ids.get(3)), false));

        assertThat(store.state(ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 1, "failed"));
        assertThat(store.state(ids.get(2))).isEqualTo(new ItemState(ids.get(2), Status.READY, 0, null));
        assertThat(store.state(ids.get(3))).isEqualTo(new ItemState(ids.get(3), Status.READY, 0, null));
    }

    @Test
    default void aFencedSettleGivesNothingBack(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, keyed("a")));
        Source slow = store.newSource();
        Source other = store.newSource();
        Claim lost = store.claimSome(slow, atMost(3));
        store.advance(PAST_LEASE);
        Claim held = store.claimSome(other, atMost(3));
        assertThat(ids(held)).containsExactlyElementsOf(ids);

        Lease stale = lease(lost, ids.get(0));
        assertThat(slow.settle(List.of(Settlement.retry(stale, Duration.ZERO, "late")))
                        .lost())
                .containsExactly(stale);

        store.assertStatus(Status.PROCESSING, ids);
        store.settleDone(other, held);
    }

    @Test
    default void aRunWhoseLeaseRanOutIsClaimedAgainFromItsHead(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(5, keyed("a")));
        Source dying = store.newSource();
        Source other = store.newSource();
        Claim run = store.claimSome(dying, atMost(4));
        store.settle(dying, Settlement.done(lease(run, ids.get(0))));
        assertThat(store.claimAll(other).ids()).isEmpty();

        store.advance(PAST_LEASE);
        Claims next = store.claimAll(other);

        assertThat(next.ids()).containsExactlyElementsOf(ids.subList(1, 5));
        assertThat(next.items()).extracting(WorkItem::attempt).containsExactly(2, 2, 2, 1);
    }

    @Test
    default void aRenewalKeepsTheWholeRun(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source source = store.newSource();
        Claim run = store.claimSome(source, atMost(3));

        store.advance(LEASE.minusMinutes(2));
        assertThat(source.renew(run.items().stream().map(run::lease).toList(), LEASE)
                        .lost())
                .isEmpty();
        store.advance(LEASE.minusMinutes(2));

        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
        store.settleDone(source, run);
        assertThat(store.claimAll(source).ids()).containsExactly(ids.get(3));
    }

    /** The item may be what kills its workers, so no other item is claimed with it. */
    @Test
    default void aHeadThatWasTriedTwiceComesAlone(SourceScenario store) {
        store.assumeHas(Feature.LONE_SUSPECTS);
        List<String> ids = store.enqueueAll(times(3, keyed("a")));
        Source source = store.newSource();
        for (int attempt = 1; attempt <= 2; attempt++) {
            Claims run = store.claimAll(source);
            assertThat(run.ids()).as("attempt %d", attempt).containsExactlyElementsOf(ids);
            store.settle(source, Settlement.retry(run.lease(ids.get(0)), Duration.ZERO, "again"));
            store.aMomentLater();
        }

        assertThat(store.claimAll(source).ids()).containsExactly(ids.get(0));
    }
}
