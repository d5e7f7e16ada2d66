package dev.outbox.testkit;

import static dev.outbox.testkit.SourceScenario.PAST_LEASE;
import static dev.outbox.testkit.SourceScenario.atMost;
import static dev.outbox.testkit.SourceScenario.times;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** A poller that serves some topics only. */
interface TopicContract {
    /** More items than any source looks at in one claim. */
    int BACKLOG = 2_500;

    /** More than twice as many items as any source walks over in one claim. */
    int LONG_WAY = 1 << 13;

    private static Message own() {
        return Message.to("own").payload("{}");
    }

    private static Message foreign() {
        return Message.to("foreign").payload("{}");
    }

    @Test
    default void aClaimTakesOnlyTheTopicsItAskedFor(SourceScenario store) {
        List<String> ids = store.enqueueAll(
                own(),
                foreign(),
                store.keyedIfPossible("a", own()),
                store.keyedIfPossible("b", foreign()),
                Message.to("third").payload(""));
        Source source = store.newSource();

        assertThat(store.claimAll(source, atMost(10, "own", "third")).ids())
                .containsExactlyInAnyOrder(ids.get(0), ids.get(2), ids.get(4));
        assertThat(store.claimAll(source, atMost(10)).ids()).containsExactlyInAnyOrder(ids.get(1), ids.get(3));
    }

    @Test
    default void topicsCompareExactly(SourceScenario store) {
        List<String> ids = store.enqueueAll(List.of(
                Message.to("own").payload(""),
                Message.to("Own").payload(""),
                Message.to("own ").payload(""),
                Message.to("öwn").payload("")));

        assertThat(store.claimAll(store.newSource(), atMost(10, "own")).ids()).containsExactly(ids.get(0));
    }

    @Test
    default void anExpiredItemIsFoundAmongItsTopics(SourceScenario store) {
        List<String> ids = store.enqueueAll(own(), foreign());
        store.claimAll(store.newSource());

        store.advance(PAST_LEASE);

        assertThat(store.claimAll(store.newSource(), atMost(10, "own")).ids()).containsExactly(ids.get(0));
        assertThat(store.claimAll(store.newSource(), atMost(10, "foreign")).ids())
                .containsExactly(ids.get(1));
    }

    @Test
    default void theNextDueCountsOnlyTheTopicsItAskedFor(SourceScenario store) {
        Duration sooner = Duration.ofMinutes(20);
        Duration later = Duration.ofHours(2);
        store.enqueueAll(
                foreign().dueIn(sooner),
                own().dueIn(later),
                store.keyedIfPossible("a", own()).dueIn(later));
        Source source = store.newSource();

        assertThat(source.nextDue(Set.of("own")).orElseThrow()).isBetween(later.dividedBy(2), later);
        assertThat(source.nextDue(Set.of("own", "foreign")).orElseThrow()).isBetween(sooner.dividedBy(2), sooner);
        assertThat(source.nextDue(Set.of("third"))).isEmpty();
    }

    @Test
    default void aBacklogOfAnotherTopicHidesNothing(SourceScenario store) {
        store.enqueueAll(times(BACKLOG, foreign()));
        List<String> ids = store.enqueueAll(times(3, own()));

        assertThat(store.claimAll(store.newSource(), atMost(10, "own")).ids()).containsExactlyElementsOf(ids);
    }

    @Test
    default void aBacklogOfKeysOfAnotherTopicHidesNothing(SourceScenario store) {
        store.enqueueAll(IntStream.range(0, BACKLOG)
                .mapToObj(i -> foreign().key("key-" + i))
                .toList());
        List<String> ids = store.enqueueAll(times(3, own().key("zebra")));

        assertThat(store.claimAll(store.newSource(), atMost(10, "own")).ids()).containsExactlyElementsOf(ids);
    }

    @Test
    default void theOrderOfAKeySpansItsTopics(SourceScenario store) {
        List<String> ids =
                store.enqueueAll(foreign().key("a"), own().key("a"), foreign().key("a"));
        Source ownSource = store.newSource();
        Source foreignSource = store.newSource();
        assertThat(store.claimAll(ownSource, atMost(10, "own")).ids())
                .as("while the head is of another topic")
                .isEmpty();

        Claims head = store.claimAll(foreignSource, atMost(10, "foreign"));
        assertThat(head.ids()).containsExactly(ids.get(0));
        store.settle(foreignSource, Settlement.done(head.lease(ids.get(0))));

        assertThat(store.claimAll(ownSource, atMost(10, "own")).ids()).containsExactly(ids.get(1));
    }

    @Test
    default void aClaimLeavesOutTheTopicsThatItIsToldToLeave(SourceScenario store) {
        List<String> ids = store.enqueueAll(
                own(),
                foreign(),
                store.keyedIfPossible("a", own()),
                store.keyedIfPossible("b", foreign()),
                own().dueIn(Duration.ZERO),
                foreign().dueIn(Duration.ZERO));
        Source source = store.newSource();

        assertThat(store.claimAll(source, atMost(10).except(Set.of("foreign"))).ids())
                .containsExactlyInAnyOrder(ids.get(0), ids.get(2), ids.get(4));
        assertThat(store.claimAll(source).ids()).containsExactlyInAnyOrder(ids.get(1), ids.get(3), ids.get(5));
    }

    @Test
    default void aTopicThatIsAskedForAndLeftOutIsLeftOut(SourceScenario store) {
        List<String> ids =
                store.enqueueAll(own(), foreign(), Message.to("third").payload(""));
        Source source = store.newSource();

        assertThat(store.claimAll(source, atMost(10, "own", "foreign").except(Set.of("foreign")))
                        .ids())
                .containsExactly(ids.get(0));
        assertThat(store.claimAll(source, atMost(10, "own").except(Set.of("own")))
                        .ids())
                .isEmpty();
    }

    /** A claim that leaves a topic out learns nothing about it, but later claims start from what it learned. */
    @Test
    default void topicsThatAreLeftOutForAWhileLoseNothing(SourceScenario store) {
        Source source = store.newSource();
        List<String> before = store.enqueueAll(own(), foreign());
        assertThat(store.claimAll(source).ids()).containsExactlyElementsOf(before);

        List<String> ids = store.enqueueAll(foreign(), own(), foreign(), own());
        assertThat(store.claimAll(source, atMost(10).except(Set.of("foreign"))).ids())
                .containsExactly(ids.get(1), ids.get(3));
        List<String> later = store.enqueueAll(foreign(), own());
        assertThat(store.claimAll(source, atMost(10).except(Set.of("own", "foreign")))
                        .ids())
                .isEmpty();
        assertThat(store.claimAll(source, atMost(10).except(Set.of("own"))).ids())
                .containsExactly(ids.get(0), ids.get(2), later.get(0));
        assertThat(store.claimAll(source).ids()).containsExactly(later.get(1));
    }

    /** Items stand at every power of two: where a source may stop and go on. */
    @Test
    default void noItemIsPassedByOnALongWay(SourceScenario store) {
        List<Message> messages = IntStream.rangeClosed(1, LONG_WAY)
                .mapToObj(place -> Integer.bitCount(place) == 1 ? own() : foreign())
                .toList();
        List<String> all = store.enqueueAll(messages);
        List<String> ids = IntStream.range(0, LONG_WAY)
                .filter(i -> messages.get(i).topic().equals("own"))
                .mapToObj(all::get)
                .toList();

        assertThat(store.claimAll(store.newSource(), atMost(100, "own")).ids()).containsExactlyElementsOf(ids);
    }
}
