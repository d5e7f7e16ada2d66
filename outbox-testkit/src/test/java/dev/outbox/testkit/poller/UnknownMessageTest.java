package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.UnknownTypeException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.delivery.TransactionalRoutes;
import dev.outbox.delivery.UnroutedTopic;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.ManualClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages of a newer version, as an older one meets them in a rolling deployment. */
@Timeout(60)
class UnknownMessageTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final UnknownTypeException UNKNOWN = new UnknownTypeException("unknown type orders.v9");

    private final ManualClock clock = new ManualClock();
    private final InMemoryStore store = new InMemoryStore(clock);
    private final Events events = new Events();
    private final List<String> delivered = new ArrayList<>();

    private PollerBuilder poller() {
        return Poller.from(store.source()).listener(events);
    }

    /** It knows a type whose name is the payload, unless that is new. */
    private void deliver(WorkItem item) {
        if (item.payload().equals("new")) {
            throw UNKNOWN;
        }
        delivered.add(item.payload());
    }

    private int poll(PollerBuilder builder) {
        try (Poller poller = builder.build()) {
            return poller.pollOnce();
        }
    }

    @Test
    void routesLeaveOtherTopicsToOtherPollers() {
        List<String> ids = store.add(message("old", "a"), message("new", "b"));
        Destination routes = Destination.byTopic().route("old", item -> delivered.add(item.payload()));

        assertThat(poll(poller().to(routes))).isEqualTo(1);

        assertThat(delivered).containsExactly("a");
        assertThat(state(store, ids.get(1)).attempts()).isZero();
    }

    @Test
    void routesThatTakeAllTopicsClaimAll() {
        store.add(message("old", "a"), message("new", "b"));
        Destination routes =
                Destination.byTopic().route("old", item -> {}).otherwise(item -> delivered.add(item.payload()));

        assertThat(poll(poller().to(routes))).isEqualTo(2);

        assertThat(delivered).containsExactly("b");
    }

    @Test
    void topicsThatAreGivenAreClaimedWhateverTheRoutesAre() {
        List<String> ids = store.add(message("old", "a"), message("new", "b"));

        assertThat(poll(poller().topics("new").to(Destination.byTopic().route("old", item -> {}))))
                .isEqualTo(1);

        assertThat(status(store, ids.get(0))).isEqualTo(Status.READY);
        assertThat(state(store, ids.get(1)).lastError()).contains("no route for topic new");
    }

    @Test
    void transactionalRoutesLeaveOtherTopicsUnlessTheySayWhatBecomesOfThem() {
        TransactionalFake source = new TransactionalFake(store.source());
        TransactionalRoutes routes = TransactionalDestination.byTopic().route("old", (tx, item) -> {});
        List<String> ids = store.add(message("old", "a"), message("new", "b"));

        assertThat(poll(Poller.from(source).inTransaction(routes))).isEqualTo(1);
        assertThat(state(store, ids.get(1)).attempts()).isZero();

        assertThat(poll(Poller.from(source).inTransaction(routes.otherwise(UnroutedTopic.DEAD))))
                .isEqualTo(1);
        assertThat(status(store, ids.get(1))).isEqualTo(Status.DEAD);
    }

    @Test
    void aDestinationByTopicWithoutARouteIsRefused() {
        assertRefused(poller().to(Destination.byTopic()));
        assertRefused(
                Poller.from(new TransactionalFake(store.source())).inTransaction(TransactionalDestination.byTopic()));
    }

    private static void assertRefused(PollerBuilder builder) {
        assertThatThrownBy(builder::build)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the poller's destination has no route; add route(...) or otherwise(...) to byTopic()");
    }

    @Test
    void anItemOfAnUnknownTypeIsGivenBackWithoutAnAttempt() {
        String id = store.add(message("t", "new")).get(0);

        poll(poller().to(this::deliver));

        ItemState item = state(store, id);
        assertThat(item.status()).isEqualTo(Status.READY);
        assertThat(item.attempts()).isZero();
        assertThat(item.lastError()).contains("unknown type orders.v9");
        assertThat(events.of(OutboxEvent.Dead.class)).isEmpty();
    }

    @Test
    void itIsLookedAtLessAndLessOftenUntilItIsTooOld() {
        String id = store.add(message("t", "new")).get(0);
        List<Integer> claimsByMinute = new ArrayList<>();

        for (int minute = 0; minute < 10; minute++) {
            int claims = 0;
            for (int second = 0; second < 60; second++) {
                claims += poll(poller().to(this::deliver).maxAge(MINUTE.multipliedBy(8)));
                clock.advance(SECOND);
            }
            claimsByMinute.add(claims);
        }

        assertThat(claimsByMinute.get(0)).isBetween(6, 8); // after 0, 1, 2, 4, 8, 16 and 32 seconds
        assertThat(claimsByMinute.subList(1, 7)).containsOnly(1);
        assertThat(status(store, id)).isEqualTo(Status.DEAD);
        assertThat(state(store, id).lastError())
                .contains("older than the maximum age")
                .contains("unknown type");
    }

    @Test
    void manyOfThemNeitherSlowDownTheirRouteNorKeepOthersWaiting() {
        store.add(Collections.nCopies(1_000, message("t", "new")));
        store.add(message("t", "old"));
        PollerBuilder builder = poller().to(this::deliver).batchSize(500);

        int claimed = 0;
        try (Poller poller = builder.build()) {
            for (int polls = 0; polls < 4; polls++) {
                claimed += poller.pollOnce();
            }
        }

        assertThat(claimed).isEqualTo(1_001);
        assertThat(delivered).containsExactly("old");
        assertThat(events.of(OutboxEvent.DestinationDown.class)).isEmpty();
    }

    @Test
    void itHoldsBackItsKey() {
        List<String> ids =
                store.add(message("t", "new").key("k"), message("t", "old").key("k"));

        poll(poller().to(this::deliver));

        assertThat(delivered).isEmpty();
        assertThat(status(store, ids.get(1))).isEqualTo(Status.READY);
        clock.advance(SECOND);
        poll(poller().to(item -> delivered.add(item.payload())));
        assertThat(delivered).containsExactly("new", "old");
    }

    @Test
    void oneInABatchIsGivenBackWhetherItIsAnsweredOrThrown() {
        List<String> ids = store.add(message("t", "old"), message("t", "new"));

        poll(poller().toBatch(items -> items.stream()
                .map(item -> item.payload().equals("new") ? Outcome.retry(UNKNOWN) : Outcome.done())
                .toList()));
        clock.advance(SECOND);
        poll(poller().toBatch(items -> {
            items.forEach(this::deliver);
            return Collections.nCopies(items.size(), Outcome.done());
        }));

        assertThat(status(store, ids.get(0))).isEqualTo(Status.DONE);
        assertThat(state(store, ids.get(1)).attempts()).isZero();
    }

    private static Message message(String topic, String payload) {
        return Message.to(topic).payload(payload);
    }
}
