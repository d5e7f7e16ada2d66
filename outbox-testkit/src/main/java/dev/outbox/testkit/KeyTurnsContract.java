package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.keyed;
import static dev.outbox.testkit.SourceScenario.message;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** No key starves: keys take turns, and so do items with and without a key. */
interface KeyTurnsContract {
    /** What the first claims lease, each settled as done before the next. */
    private static List<WorkItem> firstClaims(SourceScenario store, int claims, int count) {
        Source source = store.newSource();
        List<WorkItem> items = new ArrayList<>();
        for (int i = 0; i < claims; i++) {
            Claim claim = store.claimSome(source, atMost(count));
            store.settleDone(source, claim);
            items.addAll(claim.items());
        }
        return items;
    }

    private static void assertBothKinds(List<WorkItem> items) {
        assertThat(items).anyMatch(item -> item.key() == null).anyMatch(item -> item.key() != null);
    }

    @Test
    default void keysTakeTurns(SourceScenario store) {
        for (String key : List.of("a", "b", "c")) {
            store.enqueueAll(times(100, keyed(key)));
        }

        assertThat(firstClaims(store, 4, 30)).extracting(WorkItem::key).contains("a", "b", "c");
    }

    @Test
    default void manyKeysTakeTurns(SourceScenario store) {
        List<String> keys = IntStream.range(0, 40).mapToObj(i -> "key-" + i).toList();
        for (String key : keys) {
            store.enqueueAll(times(20, keyed(key)));
        }

        assertThat(firstClaims(store, 20, 10)).extracting(WorkItem::key).containsAll(keys);
    }

    @Test
    default void aLoneHotKeyFillsTheBatch(SourceScenario store) {
        List<String> ids = store.enqueueAll(times(100, keyed("hot")));

        Claim claim = store.claimSome(store.newSource(), atMost(30));

        assertThat(claim.items()).extracting(WorkItem::id).containsExactlyElementsOf(ids.subList(0, 30));
    }

    @Test
    default void itemsWithoutAKeyAreNotStarvedByItemsOfAKey(SourceScenario store) {
        store.enqueueAll(times(100, keyed("a")));
        store.enqueueAll(times(100, message()));

        assertBothKinds(firstClaims(store, 4, 10));
    }

    @Test
    default void itemsOfAKeyAreNotStarvedByItemsWithoutAKey(SourceScenario store) {
        store.enqueueAll(times(100, message()));
        store.enqueueAll(times(100, keyed("a")));

        assertBothKinds(firstClaims(store, 4, 10));
    }

    @Test
    default void itemsWithoutAKeyAreNotStarvedByManyKeys(SourceScenario store) {
        store.enqueueAll(
                IntStream.range(0, 100).mapToObj(i -> keyed("key-" + i)).toList());
        store.enqueueAll(times(100, message()));

        assertBothKinds(firstClaims(store, 4, 10));
    }

    @Test
    default void hundredsOfKeysThatAreBackingOffDoNotHideAReadyOne(SourceScenario store) {
        store.enqueueAll(
                IntStream.range(0, 600).mapToObj(i -> keyed("key-" + i)).toList());
        Source source = store.newSource();
        Claims claims = store.claimAll(source);
        assertThat(claims.items()).hasSize(600);
        store.settle(
                source,
                claims.leases().stream()
                        .map(lease -> Settlement.retry(lease, Duration.ofHours(1), "failed"))
                        .toList());

        String ready = store.enqueue(keyed("key-599-ready"));

        assertThat(store.claimAll(source, atMost(10)).ids()).containsExactly(ready);
    }

    @Test
    default void aFreshSourceFindsTheReadyKeyAmongHundredsThatAreDelayed(SourceScenario store) {
        store.enqueueAll(IntStream.range(0, 600)
                .mapToObj(i -> keyed("key-" + i).dueIn(Duration.ofHours(1)))
                .toList());
        String ready = store.enqueue(keyed("key-599-ready"));

        assertThat(store.claimAll(store.newSource(), atMost(10)).ids()).containsExactly(ready);
    }
}
