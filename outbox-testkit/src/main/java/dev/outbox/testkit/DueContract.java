package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** When an item comes due, and how long a poller that found nothing may wait. */
interface DueContract {
    Duration SHORT = Duration.ofMinutes(20);
    Duration LONG = Duration.ofHours(2);

    @Test
    default void aDelayedItemIsClaimableOnceItIsDue(SourceScenario store) {
        String delayed = store.enqueue(message().dueIn(SHORT));
        String now = store.enqueue(message());
        Source source = store.newSource();
        assertThat(store.claimAll(source).ids()).containsExactly(now);

        store.advance(SHORT.minusMinutes(1));
        assertThat(store.claimAll(source).ids()).doesNotContain(delayed);
        assertThat(store.claimAll(store.newSource()).ids()).doesNotContain(delayed);

        store.advance(Duration.ofMinutes(2));
        assertThat(store.claimAll(source).ids()).contains(delayed);
    }

    @Test
    default void nothingIsNextInAnEmptySource(SourceScenario store) {
        assertThat(store.newSource().nextDue(Set.of())).isEmpty();
    }

    @Test
    default void nothingIsNextWhereNothingWaits(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, message()));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        assertThat(source.nextDue(Set.of())).as("all leased").isEmpty();

        store.settle(source, Settlement.done(claims.lease(ids.get(0))));
        store.settle(source, Settlement.dead(claims.lease(ids.get(1)), "died"));
        assertThat(source.nextDue(Set.of())).as("done, dead, leased").isEmpty();
    }

    @Test
    default void theNextDueIsTheTimeUntilTheFirstItemIsDue(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(
                message().dueIn(LONG),
                message().dueIn(SHORT),
                store.keyedIfPossible("a", message()).dueIn(LONG));
        store.claimAll(source);
        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(SHORT.dividedBy(2), SHORT);

        store.advance(Duration.ofMinutes(5));

        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(Duration.ZERO, SHORT.minusMinutes(5));
    }

    @Test
    default void aRetriedItemIsNextWhenItsDelayIsOver(SourceScenario store) {
        String id = store.enqueue(message());
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), SHORT, "failed"));

        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(SHORT.dividedBy(2), SHORT);
        assertThat(store.newSource().nextDue(Set.of()).orElseThrow()).isBetween(SHORT.dividedBy(2), SHORT);
    }

    @Test
    default void aRetriedHeadOfAKeyIsNextWhenItsDelayIsOver(SourceScenario store) {
        String head = store.enqueueAll(times(3, keyed("a"))).get(0);
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(head), SHORT, "failed"));

        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(SHORT.dividedBy(2), SHORT);
    }

    @Test
    default void itemsBehindALeasedHeadAreNotNext(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(times(5, keyed("a")));
        store.claimSome(source, atMost(1));

        assertThat(source.nextDue(Set.of())).isEmpty();
        assertThat(store.newSource().nextDue(Set.of())).isEmpty();
    }

    @Test
    default void itemsBehindADelayedHeadAreNotNext(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(keyed("a").dueIn(LONG), keyed("a"), keyed("a").dueIn(SHORT));
        store.claimAll(source);

        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(LONG.dividedBy(2), LONG);

        store.advance(SHORT.plusMinutes(1));
        assertThat(source.nextDue(Set.of()).orElseThrow())
                .as("all but the head are due")
                .isBetween(Duration.ofMinutes(30), LONG.minus(SHORT));
    }

    @Test
    default void aWaitingItemIsNextAlthoughAKeyIsBlocked(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(times(5, keyed("blocked")));
        store.claimSome(source, atMost(1));
        store.enqueueAll(keyed("waiting").dueIn(LONG), message().dueIn(SHORT));

        assertThat(source.nextDue(Set.of()).orElseThrow()).isBetween(SHORT.dividedBy(2), SHORT);
    }

    @Test
    default void itemsOfOneDueTimeAreAllClaimed(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(25, message().due(Instant.parse("2020-02-20T20:20:20Z"))));
        Source source = store.newSource();

        List<Claim> claims = List.of(
                store.claimSome(source, atMost(10)),
                store.claimSome(source, atMost(10)),
                store.claimSome(source, atMost(10)));

        assertThat(new Claims(claims).ids()).containsExactlyInAnyOrderElementsOf(ids);
    }
}
