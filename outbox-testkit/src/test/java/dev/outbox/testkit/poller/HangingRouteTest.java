package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.Routes;
import dev.outbox.testkit.InMemoryStore;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A route whose calls do not return delays no other route. */
@Timeout(60)
class HangingRouteTest {
    private static final int MORE_THAN_TWO_BATCHES = 1_500;

    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final WatchedSource source = new WatchedSource(store.source());
    private final Gate gate = new Gate();
    private final List<Poller> pollers = new ArrayList<>();

    @AfterEach
    void close() {
        gate.open();
        pollers.forEach(Poller::close);
    }

    private PollerBuilder poller(int hanging) {
        Routes routes = Destination.byTopic().route("good", item -> {});
        for (int i = 0; i < hanging; i++) {
            routes = routes.route("hangs-" + i, gate::deliver); // a route each
        }
        return Poller.from(source).to(routes).lease(HOUR);
    }

    private static List<Message> messages(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> Message.to(topic).payload("{}"))
                .toList();
    }

    private void awaitDone(List<String> ids) {
        ids.forEach(id -> awaitStatus(store, id, Status.DONE));
    }

    @ParameterizedTest
    @CsvSource({"1, 2, 4", "1, 4, 1500", "2, 4, 1500", "3, 8, 8", "3, 8, 1500"})
    void itsItemsTakeNeitherAllWorkersNorAllTheRoomForClaims(int hanging, int concurrency, int itemsEach) {
        for (int i = 0; i < hanging; i++) {
            store.add(messages("hangs-" + i, itemsEach));
        }
        pollers.add(poller(hanging).concurrency(concurrency).start());
        await().until(() -> gate.begun.size() >= hanging);

        for (int i = 0; i < 5; i++) {
            awaitDone(store.add(messages("good", 20)));
        }

        assertThat(gate.delivered).isEmpty();
    }

    @Test
    void aKeyThatGoesOnWithItHoldsNoWorkerOfTheRouteItBeganWith() {
        List<String> good = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            good.addAll(store.add(Message.to("good").key("k" + i).payload("{}")));
            store.add(Message.to("hangs-0").key("k" + i).payload("{}"));
        }
        pollers.add(poller(1).start());
        await().until(() -> gate.begun.size() >= 1);

        awaitDone(good);
    }

    @Test
    void everythingArrivesOnceItAnswersAgain() {
        store.add(messages("hangs-0", MORE_THAN_TWO_BATCHES));
        List<String> good = store.add(messages("good", 10));
        pollers.add(poller(1).start());
        awaitDone(good);

        gate.open();

        awaitAllDone(store);
    }

    @Test
    void aPollerThatOnlyWaitsForItDoesNotSpin() {
        store.add(messages("hangs-0", MORE_THAN_TWO_BATCHES));
        List<String> good = store.add(messages("good", 10));
        pollers.add(poller(1).idle(HOUR, HOUR).start());
        awaitDone(good);

        int calm = source.claimCalls.get() + 2; // one may be under way
        await().during(Duration.ofMillis(300)).until(() -> source.claimCalls.get() <= calm);
    }

    @Test
    void aPollerWithOneDestinationHasAllItsWorkersForIt() {
        store.add(messages("hangs-0", 8));
        pollers.add(Poller.from(source)
                .to(Destination.byTopic().route("hangs-0", gate))
                .concurrency(4)
                .start());

        await().until(() -> gate.begun.size() == 4);
    }
}
