package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.MAX_ATTEMPTS;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Items of one key go one after the other; keys never wait for each other. */
interface KeyOrderContract {
    Duration BACKOFF = Duration.ofMinutes(30);

    @Test
    default void aLeasedKeyIsHeldBackWhileOtherKeysFlow(SourceScenario store) {
        store.enqueueAll(times(5, keyed("a")));
        Source one = store.newSource();
        store.claimSome(one, atMost(2));
        List<String> others = store.enqueueAll(keyed("b"), message(), keyed("c"));

        assertThat(store.claimAll(store.newSource()).ids()).containsExactlyInAnyOrderElementsOf(others);
        assertThat(store.claimAll(one).ids()).as("its own leased key").isEmpty();
    }

    @Test
    default void aHeadThatIsBackingOffHoldsBackItsKeyOnly(SourceScenario store) {
        List<String> a = store.enqueueAll(times(4, keyed("a")));
        List<String> b = store.enqueueAll(times(4, keyed("b")));
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        store.settleDone(source, b.subList(0, 2).stream().map(claims::lease).toList());
        store.settle(
                source,
                Settlement.retry(claims.lease(a.get(0)), BACKOFF, "failed"),
                Settlement.release(claims.lease(b.get(2)), false));

        store.aMomentLater();
        Claims other = store.claimAll(store.newSource());

        assertThat(other.ids()).containsExactlyElementsOf(b.subList(2, 4));
        assertThat(store.claimAll(source).ids()).isEmpty();
    }

    @Test
    default void aKeyGoesOnAtItsHeadWhenTheBackoffIsOver(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(ids.get(0)), BACKOFF, "failed"));

        store.advance(BACKOFF.minusMinutes(1));
        assertThat(store.claimAll(source).ids()).isEmpty();
        store.advance(Duration.ofMinutes(2));

        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids);
    }

    @Test
    default void itemsEnqueuedBehindABackingOffHeadDoNotOvertakeIt(SourceScenario store) {
        String head = store.enqueue(keyed("a"));
        Source source = store.newSource();
        store.settle(source, Settlement.retry(store.claimAll(source).lease(head), BACKOFF, "failed"));

        store.enqueueAll(times(5, keyed("a")));

        assertThat(store.claimAll(source).ids()).isEmpty();
        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).isEmpty();
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
    }

    @Test
    default void aHeadWithAFutureDueDelaysItsKey(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a").dueIn(BACKOFF), keyed("a"), keyed("b"));
        Source source = store.newSource();
        Claims before = store.claimAll(source);
        assertThat(before.ids()).containsExactly(ids.get(2));
        store.settleDone(source, before.leases());

        store.advance(BACKOFF.plusMinutes(1));

        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids.subList(0, 2));
    }

    @Test
    default void aRunEndsBeforeAnItemThatIsNotDue(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"), keyed("a").dueIn(BACKOFF), keyed("a"));
        Source source = store.newSource();

        Claims claims = store.claimAll(source);
        assertThat(claims.ids()).containsExactlyElementsOf(ids.subList(0, 2));
        store.settleDone(source, claims.leases());

        store.aMomentLater();
        assertThat(store.claimAll(source).ids()).isEmpty();
        store.advance(BACKOFF);
        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids.subList(2, 4));
    }

    @Test
    default void aDeadHeadIsSkipped(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, keyed("a")));
        Source source = store.newSource();
        Claim head = store.claimSome(source, atMost(1));

        store.settle(source, Settlement.dead(head.lease(head.items().get(0)), "poison"));

        store.assertStatus(Status.DEAD, ids.subList(0, 1));
        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    default void aHeadThatKilledItsWorkersIsSkipped(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(3, keyed("a")));
        Source source = store.newSource();
        assertThat(store.claimSome(source, atMost(1)).items())
                .extracting(WorkItem::id)
                .containsExactly(ids.get(0));
        for (int attempt = 2; attempt <= MAX_ATTEMPTS; attempt++) {
            assertThat(store.claimExpired(source, atMost(1)).ids()).containsExactly(ids.get(0));
        }

        Claims claims = store.claimExpired(source, atMost(100));
        store.aMomentLater();
        Claims later = store.claimAll(source);

        assertThat(claims.dead()).containsExactly(ids.get(0));
        assertThat(claims.ids().isEmpty() ? later.ids() : claims.ids()).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    default void aRequeuedItemWaitsForTheLeasedItemsOfItsKey(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(4, keyed("a")));
        Source one = store.newSource();
        Source two = store.newSource();
        Claim head = store.claimSome(one, atMost(1));
        store.settle(one, Settlement.dead(head.lease(head.items().get(0)), "poison"));
        Claims rest = store.claimAll(one);
        assertThat(rest.ids()).containsExactlyElementsOf(ids.subList(1, 4));

        store.requeue(ids.get(0));
        store.aMomentLater();
        assertThat(store.claimAll(two).ids()).isEmpty();
        assertThat(store.claimAll(one).ids()).isEmpty();

        store.settleDone(one, rest.leases().subList(0, 2));
        store.aMomentLater();
        assertThat(store.claimAll(two).ids()).as("one is still leased").isEmpty();

        store.settleDone(one, rest.leases().subList(2, 3));
        store.aMomentLater();
        assertThat(store.claimAll(two).ids()).containsExactly(ids.get(0));
    }

    @Test
    default void keysCompareExactly(SourceScenario store) {
        Source source = store.newSource();
        String prefix = "k".repeat(Message.MAX_NAME - 1);
        store.enqueueAll(keyed("a"), keyed(prefix + "1"));
        assertThat(store.claimAll(source).ids()).hasSize(2);

        List<String> others = store.enqueueAll(
                keyed("A"),
                keyed("ä"),
                keyed("a\u0308"),
                keyed("a "),
                keyed(" a"),
                keyed("aa"),
                keyed("á"),
                keyed("🚀"),
                keyed(prefix),
                keyed(prefix + "2"),
                keyed("ä".repeat(Message.MAX_NAME)));
        store.enqueueAll(keyed("a"), keyed(prefix + "1"));

        assertThat(store.claimAll(source).ids()).containsExactlyInAnyOrderElementsOf(others);
    }
}
