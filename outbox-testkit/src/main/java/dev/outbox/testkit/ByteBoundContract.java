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
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * A claim ends with the item that brings it to its bound in bytes. Payloads are far above the bound or far below it, so that
 * it does not matter how many bytes a store needs for a character.
 */
interface ByteBoundContract {
    String LARGE = "x".repeat(20_000);

    private static ClaimRequest bounded(SourceScenario store) {
        store.assumeHas(Feature.BYTE_BOUNDS);
        return atMost(20).maxBytes(10_000);
    }

    private static Message large(Message message) {
        return message.payload(LARGE);
    }

    private static List<String> ids(Claim claim) {
        return claim.items().stream().map(WorkItem::id).toList();
    }

    /** What this many claims lease, one list per claim, each settled as done before the next. */
    private static List<List<WorkItem>> claims(SourceScenario store, int claims) {
        Source source = store.newSource();
        ClaimRequest request = bounded(store);
        List<List<WorkItem>> items = new ArrayList<>();
        for (int i = 0; i < claims; i++) {
            Claim claim = store.claimSome(source, request);
            store.settleDone(source, claim);
            items.add(claim.items());
        }
        return items;
    }

    private static List<WorkItem> flat(List<List<WorkItem>> claims) {
        return claims.stream().flatMap(List::stream).toList();
    }

    /** Which of this many claims leased such an item first, counted from 1. */
    private static int firstWith(SourceScenario store, int claims, Predicate<WorkItem> wanted) {
        List<List<WorkItem>> all = claims(store, claims);
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).stream().anyMatch(wanted)) {
                return i + 1;
            }
        }
        throw new AssertionError("no such item in " + claims + " claims");
    }

    @Test
    default void aClaimEndsWithTheItemThatReachesTheBound(SourceScenario store) {
        List<String> ids = store.enqueueAll(message(), message(), large(message()), message(), message());
        Source source = store.newSource();

        Claim first = store.claimSome(source, bounded(store));
        Claim second = store.claimSome(source, bounded(store));

        assertThat(ids(first)).containsExactlyElementsOf(ids.subList(0, 3));
        assertThat(first.more()).isTrue();
        assertThat(ids(second)).containsExactlyElementsOf(ids.subList(3, 5));
    }

    @Test
    default void anItemAboveTheBoundComesAloneIfItIsFirst(SourceScenario store) {
        List<String> ids = store.enqueueAll(large(message()), message(), message());
        Source source = store.newSource();

        Claim first = store.claimSome(source, bounded(store));
        Claim second = store.claimSome(source, bounded(store));

        assertThat(ids(first)).containsExactly(ids.get(0));
        assertThat(first.items().get(0).payload()).isEqualTo(LARGE);
        assertThat(first.more()).isTrue();
        assertThat(ids(second)).containsExactlyElementsOf(ids.subList(1, 3));
    }

    @Test
    default void smallItemsDoNotKeepALargeOneWaiting(SourceScenario store) {
        String large = store.enqueue(large(message()));
        Source source = store.newSource();

        List<String> claimed = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            store.enqueueAll(times(5, message()));
            claimed.addAll(ids(store.claimSome(source, bounded(store))));
        }

        assertThat(claimed).contains(large);
    }

    @Test
    default void whatACutClaimLeftIsClaimedNext(SourceScenario store) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            ids.addAll(store.enqueueAll(message(), large(message()), large(message())));
        }

        Claims claims = store.claimAll(store.newSource(), bounded(store));

        assertThat(claims.ids()).containsExactlyElementsOf(ids);
        assertThat(claims.all()).allSatisfy(claim -> assertThat(claim.items()).hasSizeLessThan(3));
    }

    @Test
    default void delayedItemsThatACutClaimLeftAreClaimedNext(SourceScenario store) {
        Duration delay = Duration.ofMinutes(20);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            ids.addAll(store.enqueueAll(message().dueIn(delay), large(message()).dueIn(delay)));
        }
        Source source = store.newSource();
        assertThat(store.claimAll(source, bounded(store)).ids()).isEmpty();

        store.advance(delay.plusMinutes(1));
        Claims claims = store.claimAll(source, bounded(store));

        assertThat(claims.ids()).containsExactlyInAnyOrderElementsOf(ids);
        assertThat(claims.all()).hasSizeGreaterThanOrEqualTo(6);
    }

    @Test
    default void itemsOfATopicThatACutClaimLeftAreClaimedNext(SourceScenario store) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            store.enqueue(Message.to("another").payload("{}"));
            ids.addAll(store.enqueueAll(message(), large(message())));
        }

        Claims claims = store.claimAll(
                store.newSource(),
                atMost(20, SourceScenario.TOPIC).maxBytes(bounded(store).maxBytes()));

        assertThat(claims.ids()).containsExactlyElementsOf(ids);
        assertThat(claims.all()).hasSizeGreaterThanOrEqualTo(6);
    }

    @Test
    default void aRunThatWasCutHasNoGap(SourceScenario store) {
        List<String> ids = store.enqueueAll(
                keyed("a"),
                large(keyed("a")),
                keyed("a"),
                keyed("a"),
                large(keyed("a")),
                large(keyed("a")),
                keyed("a"));

        List<List<WorkItem>> claims = claims(store, 4);

        assertThat(claims).extracting(List::size).containsExactly(2, 3, 1, 1);
        assertThat(flat(claims)).extracting(WorkItem::id).containsExactlyElementsOf(ids);
    }

    @Test
    default void keysTakeTurnsAlthoughEachClaimIsCut(SourceScenario store) {
        List<String> keys = IntStream.range(10, 30).mapToObj(i -> "key-" + i).toList();
        List<String> ids = new ArrayList<>();
        for (String key : keys) {
            ids.addAll(store.enqueueAll(times(2, large(keyed(key)))));
        }

        List<List<WorkItem>> claims = claims(store, ids.size());

        assertThat(claims).allSatisfy(claim -> assertThat(claim).hasSizeLessThanOrEqualTo(1));
        assertThat(flat(claims.subList(0, keys.size() * 3 / 2)))
                .as("a key that has just been served may come first every third time")
                .extracting(WorkItem::key)
                .containsAll(keys);
        assertThat(flat(claims)).extracting(WorkItem::id).containsExactlyInAnyOrderElementsOf(ids);
    }

    @Test
    default void keysAreClaimedWhileOthersHaveLargeItems(SourceScenario store) {
        for (int i = 0; i < 5; i++) {
            store.enqueueAll(times(30, large(keyed("large-" + i))));
        }
        store.enqueue(keyed("b"));
        store.enqueue(keyed("z"));

        List<WorkItem> items = flat(claims(store, 12));

        assertThat(items).extracting(WorkItem::key).contains("b", "z");
    }

    @Test
    default void largeItemsWithAndWithoutAKeyTakeTurns(SourceScenario store) {
        store.enqueueAll(times(20, large(message())));
        store.enqueueAll(times(20, large(keyed("a"))));

        List<WorkItem> items = flat(claims(store, 6));

        assertThat(items).anyMatch(item -> item.key() == null).anyMatch(item -> item.key() != null);
    }

    @Test
    default void urgentItemsDoNotWaitForLargeBulkItems(SourceScenario store) {
        store.enqueueAll(times(20, large(message()).priority(Priority.BULK)));
        String urgent = store.enqueue(message().priority(Priority.HIGH));

        assertThat(firstWith(store, 5, item -> item.id().equals(urgent))).isLessThanOrEqualTo(2);
    }

    @Test
    default void bulkItemsAreNotStarvedByLargeUrgentItems(SourceScenario store) {
        store.enqueueAll(times(40, large(message()).priority(Priority.HIGH)));
        String bulk = store.enqueue(message().priority(Priority.BULK));

        assertThat(firstWith(store, 30, item -> item.id().equals(bulk))).isLessThanOrEqualTo(20);
    }

    @Test
    default void normalItemsAreNotStarvedByLargeUrgentItems(SourceScenario store) {
        store.enqueueAll(times(40, large(message()).priority(Priority.HIGH)));
        String normal = store.enqueue(message());

        assertThat(firstWith(store, 20, item -> item.id().equals(normal))).isLessThanOrEqualTo(8);
    }

    @Test
    default void delayedNormalItemsAreNotStarvedByLargeUrgentItems(SourceScenario store) {
        Duration delay = Duration.ofMinutes(20);
        store.enqueueAll(times(40, large(message()).dueIn(delay).priority(Priority.HIGH)));
        String normal = store.enqueue(message().dueIn(delay));
        store.advance(delay.plusMinutes(1));

        assertThat(firstWith(store, 20, item -> item.id().equals(normal))).isLessThanOrEqualTo(8);
    }

    @Test
    default void urgentItemsDoNotWaitForLargeNormalItems(SourceScenario store) {
        store.enqueueAll(times(20, large(message())));
        String urgent = store.enqueue(message().priority(Priority.HIGH));

        assertThat(firstWith(store, 5, item -> item.id().equals(urgent))).isLessThanOrEqualTo(2);
    }

    @Test
    default void anUrgentKeyDoesNotWaitForKeysWithLargeItems(SourceScenario store) {
        for (int i = 0; i < 20; i++) {
            store.enqueue(large(keyed("a" + i)));
        }
        String urgent = store.enqueue(large(keyed("z")).priority(Priority.HIGH));

        assertThat(firstWith(store, 5, item -> item.id().equals(urgent))).isLessThanOrEqualTo(2);
    }

    @Test
    default void keysAreNotStarvedByUrgentKeysWithLargeItems(SourceScenario store) {
        for (int i = 0; i < 20; i++) {
            store.enqueueAll(times(2, large(keyed("a" + i)).priority(Priority.HIGH)));
        }
        String normal = store.enqueue(keyed("z"));

        assertThat(firstWith(store, 30, item -> item.id().equals(normal))).isLessThanOrEqualTo(25);
    }
}
