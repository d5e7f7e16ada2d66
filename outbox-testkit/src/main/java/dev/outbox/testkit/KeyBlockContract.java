package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.MAX_ATTEMPTS;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OnDead;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A Dead item can block its key: nothing of it is claimed until the item is requeued. */
interface KeyBlockContract {
    /** Claims everything and settles this item as Dead, so that it blocks its key. */
    private static void block(SourceScenario store, Source source, String itemId) {
        Claim claim = store.claimSome(source, atMost(100));
        WorkItem item = claim.items().stream()
                .filter(claimed -> claimed.id().equals(itemId))
                .findFirst()
                .orElseThrow();
        store.settle(source, Settlement.dead(claim.lease(item), "refused", OnDead.BLOCK));
    }

    @Test
    default void aDeadItemThatBlocksGivesTheRestOfItsRunBack(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"), keyed("a"));

        block(store, store.newSource(), ids.get(0));

        assertThat(store.state(ids.get(0)).status()).isEqualTo(Status.DEAD);
        store.assertStatus(Status.READY, ids.subList(1, 3));
        assertThat(store.state(ids.get(1)).attempts()).isZero();
    }

    @Test
    default void aBlockedKeyIsNotClaimedAndOthersAre(SourceScenario store) {
        String first = store.enqueue(keyed("a"));
        Source source = store.newSource();
        block(store, source, first);
        store.enqueue(keyed("a"));
        List<String> others = store.enqueueAll(keyed("b"), message());

        assertThat(store.claimAll(source).ids()).containsExactlyInAnyOrderElementsOf(others);
        assertThat(store.claimAll(store.newSource()).ids()).isEmpty();
    }

    @Test
    default void aBlockedKeyGoesOnInOrderWhenItsDeadItemIsRequeued(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"));
        Source source = store.newSource();
        block(store, source, ids.get(0));

        store.requeue(ids.get(0));

        Claim claim = store.claimSome(source, atMost(10));
        assertThat(claim.items()).extracting(WorkItem::id).containsExactlyElementsOf(ids);
        store.settleDone(source, claim);
        String next = store.enqueue(keyed("a"));
        assertThat(store.claimAll(source).ids()).containsExactly(next);
    }

    @Test
    default void aKeyIsFreeWhenTheItemThatBlockedItIsSkippedNextTime(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"));
        Source source = store.newSource();
        block(store, source, ids.get(0));
        store.requeue(ids.get(0));

        Claim again = store.claimSome(source, atMost(1));
        store.settle(source, Settlement.dead(again.lease(again.items().get(0)), "refused", OnDead.SKIP));

        assertThat(store.claimAll(source).ids()).containsExactly(ids.get(1));
    }

    @Test
    default void anItemWhoseLastLeaseRanOutBlocksIfTheClaimSaysSo(SourceScenario store) {
        List<String> ids = store.enqueueAll(keyed("a"), keyed("a"));
        Source source = store.newSource();
        ClaimRequest request = atMost(1).onDead(OnDead.BLOCK);
        store.claimSome(source, request);
        for (int attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
            assertThat(store.claimExpired(source, request).ids()).containsExactly(ids.get(0));
        }

        Claims last = store.claimExpired(source, request);
        assertThat(last.dead()).containsExactly(ids.get(0));
        assertThat(last.ids()).isEmpty();
        assertThat(store.claimAll(source).ids()).isEmpty();
    }

    @Test
    default void whatWaitsBehindABlockIsNotDue(SourceScenario store) {
        String first = store.enqueue(keyed("a"));
        Source source = store.newSource();
        block(store, source, first);
        store.enqueue(keyed("a").dueIn(Duration.ofHours(1)));

        assertThat(source.nextDue(Set.of())).isEmpty();
    }

    @Test
    default void aDeadItemWithoutAKeyBlocksNothing(SourceScenario store) {
        String first = store.enqueue(message());
        Source source = store.newSource();
        block(store, source, first);
        List<String> others = store.enqueueAll(message(), keyed("a"));

        assertThat(store.claimAll(source).ids()).containsExactlyInAnyOrderElementsOf(others);
    }
}
