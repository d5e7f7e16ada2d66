package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * When an item was first due, which its age counts from. It is compared with the time the item was stored, because a
 * fixture may let time pass by moving both.
 */
interface FirstDueContract {
    Duration AHEAD = Duration.ofDays(8);
    Duration BACK_OFF = Duration.ofMinutes(30);

    @Test
    default void anItemThatWasNeverDelayedIsFirstDueWhenItIsStored(SourceScenario store) {
        store.enqueueAll(message(), store.keyedIfPossible("a", message()));

        assertThat(waits(store.claimAll(store.newSource())).values()).containsExactly(Duration.ZERO, Duration.ZERO);
    }

    @Test
    default void aDelayedItemIsFirstDueAtItsDueTime(SourceScenario store) {
        store.assumeHas(Feature.FIRST_DUE_TIMES);
        store.enqueueAll(
                message().dueIn(AHEAD), store.keyedIfPossible("a", message()).dueIn(AHEAD));
        store.advance(AHEAD.plusMinutes(1));

        assertThat(waits(store.claimAll(store.newSource())).values())
                .hasSize(2)
                .allSatisfy(wait -> assertThat(wait).isBetween(AHEAD.minusMinutes(1), AHEAD.plusMinutes(1)));
    }

    @Test
    default void aDueTimeInThePastMakesNoItemOlder(SourceScenario store) {
        store.enqueue(message().due(Instant.parse("2001-02-03T04:05:06Z")));

        assertThat(waits(store.claimAll(store.newSource())).values()).containsExactly(Duration.ZERO);
    }

    @Test
    default void aRetryDoesNotChangeWhenAnItemWasFirstDue(SourceScenario store) {
        assertUnchangedBy(lease -> Settlement.retry(lease, BACK_OFF, "failed"), store);
    }

    @Test
    default void aRetryThatGivesItsAttemptBackDoesNotChangeWhenAnItemWasFirstDue(SourceScenario store) {
        assertUnchangedBy(lease -> Settlement.retry(lease, BACK_OFF, "slow down", 1), store);
    }

    @Test
    default void aReleaseDoesNotChangeWhenAnItemWasFirstDue(SourceScenario store) {
        assertUnchangedBy(lease -> Settlement.release(lease, false), store);
    }

    @Test
    default void aRunThatGoesBackDoesNotChangeWhenItsItemsWereFirstDue(SourceScenario store) {
        Source source = store.newSource();
        List<String> ids = store.enqueueAll(times(3, keyed("a").dueIn(AHEAD)));
        store.advance(AHEAD.plusMinutes(1));
        Claims claims = store.claimAll(source);
        Map<String, Duration> first = waits(claims);

        for (int round = 0; round < 2; round++) {
            store.settle(source, Settlement.retry(claims.lease(ids.get(0)), BACK_OFF, "slow down", 1));
            store.advance(BACK_OFF.plusMinutes(1));
            claims = store.claimAll(source);
            assertThat(waits(claims)).isEqualTo(first);
        }
    }

    @Test
    default void aLeaseThatRanOutDoesNotChangeWhenAnItemWasFirstDue(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(message(), message().dueIn(AHEAD));
        store.advance(AHEAD.plusMinutes(1));
        Map<String, Duration> first = waits(store.claimAll(source));

        assertThat(waits(store.claimExpired(source, atMost(100)))).isEqualTo(first);
    }

    @Test
    default void aLeaseThatRanOutDoesNotChangeWhenTheItemsOfARunWereFirstDue(SourceScenario store) {
        Source source = store.newSource();
        store.enqueueAll(times(3, keyed("a").dueIn(AHEAD)));
        store.advance(AHEAD.plusMinutes(1));
        Map<String, Duration> first = waits(store.claimAll(source));

        assertThat(waits(store.claimExpired(source, atMost(100)))).isEqualTo(first);
    }

    @Test
    default void aRequeuedItemIsFirstDueWhenItIsRequeued(SourceScenario store) {
        store.assumeHas(Feature.FIRST_DUE_TIMES);
        Source source = store.newSource();
        String id = store.enqueue(message());
        store.settle(source, Settlement.retry(store.claimAll(source).lease(id), BACK_OFF, "failed"));
        store.advance(BACK_OFF.plusMinutes(1));
        store.settle(source, Settlement.dead(store.claimAll(source).lease(id), "too old"));
        store.advance(AHEAD);

        store.requeue(id);
        store.aMomentLater();
        Claims requeued = store.claimAll(source);

        assertThat(waits(requeued).values())
                .hasSize(1)
                .allSatisfy(wait -> assertThat(wait).isGreaterThanOrEqualTo(AHEAD));
        store.settle(source, Settlement.retry(requeued.lease(id), BACK_OFF, "failed"));
        store.advance(BACK_OFF.plusMinutes(1));
        assertThat(waits(store.claimAll(source))).isEqualTo(waits(requeued));
    }

    private static void assertUnchangedBy(Function<Lease, Settlement> end, SourceScenario store) {
        Source source = store.newSource();
        List<Message> messages = List.of(
                message(),
                message().dueIn(AHEAD),
                store.keyedIfPossible("a", message().dueIn(AHEAD)));
        store.enqueueAll(messages);
        store.advance(AHEAD.plusMinutes(1));
        Claims claims = store.claimAll(source);
        Map<String, Duration> first = waits(claims);
        assertThat(first).hasSameSizeAs(messages);

        for (int round = 0; round < 2; round++) {
            store.settle(source, claims.leases().stream().map(end).toList());
            store.advance(BACK_OFF.plusMinutes(1));
            claims = store.claimAll(source);
            assertThat(waits(claims)).isEqualTo(first);
        }
    }

    /** How long after it was stored each item was first due. */
    private static Map<String, Duration> waits(Claims claims) {
        return claims.items().stream()
                .collect(Collectors.toMap(WorkItem::id, item -> Duration.between(item.createdOn(), item.firstDueOn())));
    }
}
