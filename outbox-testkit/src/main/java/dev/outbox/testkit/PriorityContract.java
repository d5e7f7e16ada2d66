package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Priority;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Three bands between items without a key and between the heads of keys, never inside a key. */
interface PriorityContract {
    private static long count(List<WorkItem> items, Priority priority) {
        return items.stream()
                .filter(item -> item.message().priority() == priority)
                .count();
    }

    @Test
    default void urgentItemsComeBeforeNormalOnesAndThoseBeforeBulk(SourceScenario store) {
        List<String> bulk = store.enqueueAll(times(20, message().priority(Priority.BULK)));
        List<String> normal = store.enqueueAll(times(20, message()));
        List<String> high = store.enqueueAll(times(20, message().priority(Priority.HIGH)));
        Source source = store.newSource();

        Claim first = store.claimSome(source, atMost(20));
        Claim second = store.claimSome(source, atMost(20));

        assertThat(first.items()).extracting(WorkItem::id).containsAll(high.subList(0, 12));
        assertThat(second.items()).extracting(WorkItem::id).containsAll(high.subList(14, 20));
        assertThat(count(second.items(), Priority.BULK)).isBetween(1L, 3L);
        assertThat(store.claimAll(source).ids())
                .containsAll(normal.subList(18, 20))
                .containsAll(bulk.subList(6, 20));
    }

    private static void assertShares(SourceScenario store, Source source, ClaimRequest request) {
        for (int i = 0; i < 4; i++) {
            Claim claim = store.claimSome(source, request);
            assertThat(claim.items()).hasSize(request.count());
            assertThat(count(claim.items(), Priority.HIGH)).isGreaterThanOrEqualTo(request.count() * 6 / 10);
            assertThat(count(claim.items(), Priority.NORMAL)).isGreaterThanOrEqualTo(request.count() / 4);
            assertThat(count(claim.items(), Priority.BULK)).isGreaterThanOrEqualTo(request.count() / 10);
        }
    }

    private static void enqueueInAllBands(SourceScenario store, Message message) {
        for (Priority priority : Priority.values()) {
            store.enqueueAll(times(150, message.priority(priority)));
        }
    }

    @Test
    default void everyBandGetsItsShareOfABatch(SourceScenario store) {
        enqueueInAllBands(store, message());

        assertShares(store, store.newSource(), atMost(40));
    }

    @Test
    default void everyBandGetsItsShareOfABatchOfATopic(SourceScenario store) {
        enqueueInAllBands(store, message());
        enqueueInAllBands(store, Message.to("another").payload("{}"));

        assertShares(store, store.newSource(), atMost(40, "another"));
    }

    @Test
    default void everyBandGetsItsShareOfDelayedItems(SourceScenario store) {
        Duration delay = Duration.ofMinutes(20);
        enqueueInAllBands(store, message().dueIn(delay));

        store.advance(delay.plusMinutes(1));

        assertShares(store, store.newSource(), atMost(40));
    }

    @Test
    default void normalIsServedEvenOneItemAtATime(SourceScenario store) {
        store.enqueueAll(times(60, message().priority(Priority.HIGH)));
        store.enqueueAll(times(60, message().priority(Priority.BULK)));
        store.enqueueAll(times(60, message()));
        Source source = store.newSource();

        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            items.addAll(store.claimSome(source, atMost(1)).items());
        }

        assertThat(count(items, Priority.NORMAL)).isGreaterThanOrEqualTo(10);
        assertThat(count(items, Priority.BULK)).isGreaterThanOrEqualTo(4);
        assertThat(count(items, Priority.HIGH)).isGreaterThanOrEqualTo(24);
    }

    @Test
    default void urgentItemsFillTheBatchWhenNothingElseIsThere(SourceScenario store) {
        store.enqueueAll(times(60, message().priority(Priority.HIGH)));

        assertThat(store.claimSome(store.newSource(), atMost(50)).items()).hasSize(50);
    }

    @Test
    default void bulkGetsATenthOfABatch(SourceScenario store) {
        store.enqueueAll(times(300, message().priority(Priority.HIGH)));
        store.enqueueAll(times(300, message().priority(Priority.BULK)));
        Source source = store.newSource();

        for (int i = 0; i < 3; i++) {
            Claim claim = store.claimSome(source, atMost(50));
            assertThat(claim.items()).hasSize(50);
            assertThat(count(claim.items(), Priority.BULK)).isGreaterThanOrEqualTo(5);
            assertThat(count(claim.items(), Priority.HIGH)).isGreaterThanOrEqualTo(40);
        }
    }

    @Test
    default void bulkFillsTheBatchWhenNothingElseIsThere(SourceScenario store) {
        store.enqueueAll(times(60, message().priority(Priority.BULK)));

        assertThat(store.claimSome(store.newSource(), atMost(50)).items()).hasSize(50);
    }

    @Test
    default void bulkIsServedEvenOneItemAtATime(SourceScenario store) {
        store.enqueueAll(times(60, message().priority(Priority.HIGH)));
        store.enqueue(message().priority(Priority.BULK));
        Source source = store.newSource();

        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            items.addAll(store.claimSome(source, atMost(1)).items());
        }

        assertThat(count(items, Priority.BULK)).isEqualTo(1);
    }

    @Test
    default void aKeyWithAnUrgentHeadComesBeforeOtherKeys(SourceScenario store) {
        for (int i = 0; i < 100; i++) {
            store.enqueue(keyed("normal-" + i));
        }
        String urgent = store.enqueue(keyed("z-urgent").priority(Priority.HIGH));

        assertThat(store.claimSome(store.newSource(), atMost(10)).items())
                .extracting(WorkItem::id)
                .contains(urgent);
    }

    @Test
    default void urgentKeysThatCannotBeClaimedDoNotHideOneThatCan(SourceScenario store) {
        for (int i = 0; i < 30; i++) {
            store.enqueue(keyed("a" + i).priority(Priority.HIGH).dueIn(Duration.ofHours(1)));
        }
        String ready = store.enqueue(keyed("z").priority(Priority.HIGH));

        assertThat(store.claimAll(store.newSource(), atMost(5)).ids()).containsExactly(ready);
    }

    @Test
    default void priorityNeverReordersAKey(SourceScenario store) {
        List<String> ids =
                store.enqueueAll(keyed("a").priority(Priority.BULK), keyed("a").priority(Priority.HIGH), keyed("a"));

        assertThat(store.claimAll(store.newSource()).ids()).containsExactlyElementsOf(ids);
    }

    @Test
    default void keysOfBulkItemsAreServedBesideOthers(SourceScenario store) {
        for (int i = 0; i < 30; i++) {
            store.enqueueAll(times(50, keyed("normal-" + i)));
        }
        String bulk = store.enqueue(keyed("bulk").priority(Priority.BULK));
        Source source = store.newSource();

        List<String> claimed = new ArrayList<>();
        for (int i = 0; i < 400 && !claimed.contains(bulk); i++) {
            Claim claim = store.claimSome(source, atMost(4));
            claim.items().forEach(item -> claimed.add(item.id()));
            store.settleDone(source, claim);
        }

        assertThat(claimed).contains(bulk);
    }
}
