package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static dev.outbox.testkit.poller.OutageScenario.MINUTE;
import static dev.outbox.testkit.poller.OutageScenario.SECOND;
import static dev.outbox.testkit.poller.OutageScenario.STEP;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.DestinationUnavailableException;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a destination that accepts nothing is asked, and what its items pay for it. */
@Timeout(60)
class OutageTest {
    /** Failures until an outage that is not recognised slows the calls down, and that one is. */
    private static final int MANY = 300;

    static final int HANDFUL = 5;

    /** Calls in a minute with pauses of 0.2 s doubling to 5 s, each a quarter shorter at most. */
    static final int CALLS_IN_A_MINUTE = 5 + 60 * 4 / 3 / 5 + 1;

    /**
     * The same if the route has accepted something just before: pauses of 0.2 s for 2 s, of a tenth of the time since then
     * until 50 s, and of 5 s. Over the steps between them the tenths add up to 10 times ln(50 / 2).
     */
    static final int CALLS_IN_A_MINUTE_AFTER_A_SUCCESS = (10 + 33 + 2) * 4 / 3;

    private final OutageScenario scenario = new OutageScenario();
    private final InMemoryStore store = scenario.store;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16})
    void anUnrecognisedOutageCostsAFewHundredCallsHoweverManyPollersThereAre(int count) {
        store.add(unkeyed(2_000));
        FailingBroker broker = new FailingBroker();

        scenario.pollFor(MINUTE, scenario.pollers(count, broker));

        assertThat(broker.calls).hasValueBetween(MANY, MANY + CALLS_IN_A_MINUTE);
        assertThat(scenario.events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        assertThat(scenario.with(Status.DEAD)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void aRecognisedOutageCostsAHandfulOfCallsAndNoAttempt(int count) {
        store.add(unkeyed(2_000));
        for (Supplier<Exception> failure : List.<Supplier<Exception>>of(
                () -> new DestinationUnavailableException("down"),
                () -> new IllegalStateException(new ConnectException("Connection refused")))) {
            FailingBroker broker = new FailingBroker();
            broker.failure = failure;

            scenario.pollFor(MINUTE, scenario.pollers(count, broker));

            assertThat(broker.calls).hasValueBetween(HANDFUL, HANDFUL + CALLS_IN_A_MINUTE);
            assertThat(store.items())
                    .allSatisfy(item -> assertThat(item.attempts()).isZero());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16})
    void afterASuccessTheFirstMinuteOfAnOutageCostsFortyCallsMoreHoweverManyPollersThereAre(int count) {
        for (boolean recognised : new boolean[] {false, true}) {
            FailingBroker broker = new FailingBroker();
            broker.fails = item -> false;
            List<Poller> pollers = scenario.pollers(count, broker);
            store.add(message("good"));
            scenario.pollFor(STEP, pollers);
            broker.fails = item -> true;
            broker.calls.set(0);
            if (recognised) {
                broker.failure = () -> new DestinationUnavailableException("down");
            }
            store.add(unkeyed(2_000));

            scenario.pollFor(MINUTE, pollers);

            int first = recognised ? HANDFUL : MANY;
            assertThat(broker.calls).hasValueBetween(first, first + CALLS_IN_A_MINUTE_AFTER_A_SUCCESS);
            scenario.pollFor(MINUTE, pollers);
            assertThat(broker.calls)
                    .as("the next minute is like any other")
                    .hasValueLessThanOrEqualTo(first + CALLS_IN_A_MINUTE_AFTER_A_SUCCESS + CALLS_IN_A_MINUTE);
            broker.fails = item -> false;
            scenario.pollFor(Duration.ofSeconds(11), pollers);
            assertThat(scenario.with(Status.DONE)).hasSameSizeAs(store.items());
        }
    }

    @Test
    void aBatchDestinationThatThrowsIsCalledAsRarely() {
        store.add(unkeyed(2_000));
        AtomicInteger calls = new AtomicInteger();
        BatchDestination down = items -> {
            calls.incrementAndGet();
            throw new IOException("down");
        };
        List<Poller> pollers = IntStream.range(0, 4)
                .mapToObj(i -> Poller.from(store.source())
                        .toBatch(down)
                        .ticker(scenario.time::ticker)
                        .build())
                .toList();

        scenario.pollFor(MINUTE, pollers);

        int halves = 10; // from 500 items to one
        assertThat(calls).hasValueBetween(MANY, MANY + halves + CALLS_IN_A_MINUTE);
        assertThat(scenario.with(Status.DEAD)).isEmpty();
    }

    @Test
    void aSlowRouteOfTopicsThatAPollerDoesNotPollDoesNotKeepItAwake() {
        store.add(IntStream.range(0, 400)
                .mapToObj(i -> Message.to("bad").payload("{}"))
                .toList());
        FailingBroker bad = new FailingBroker();
        bad.failure = () -> new DestinationUnavailableException("down");
        Destination routes = Destination.byTopic().route("bad", bad).route("good", new FailingBroker());
        scenario.pollFor(SECOND, List.of(scenario.poller(routes).topics("bad").build()));
        assertThat(scenario.events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        WatchedSource source = new WatchedSource(store.source());
        scenario.time.pass(MINUTE); // the pause is over, but nobody calls
        try (Poller other = Poller.from(source)
                .to(routes)
                .topics("good")
                .ticker(scenario.time::ticker)
                .idle(Duration.ofHours(1), Duration.ofHours(1))
                .start()) {
            await("it is idle").until(() -> source.claimCalls.get() == 1);
            other.wakeUp();
            await("it is idle again").until(() -> source.claimCalls.get() == 2);
        }

        assertThat(source.claimCalls).hasValue(2);
    }

    @Test
    void anExceptionOfYourOwnCanBeRecognised() {
        store.add(unkeyed(100));
        FailingBroker broker = new FailingBroker();

        scenario.pollFor(
                MINUTE,
                List.of(scenario.poller(broker)
                        .outage(e -> "down".equals(e.getMessage()))
                        .build()));

        assertThat(store.items()).allSatisfy(item -> assertThat(item.attempts()).isZero());
    }

    @Test
    void afterAnOutageEverythingIsDeliveredWithinSeconds() {
        store.add(unkeyed(5_000));
        FailingBroker broker = new FailingBroker();
        List<Poller> pollers = scenario.pollers(4, broker);
        scenario.pollFor(MINUTE.multipliedBy(10), pollers);

        broker.fails = item -> false;
        scenario.pollFor(Duration.ofSeconds(11), pollers);

        assertThat(scenario.with(Status.DONE)).hasSize(5_000);
        assertThat(scenario.events.count(OutboxEvent.DestinationUp.class)).isEqualTo(1);
    }

    @Test
    void aRouteThatAcceptsNothingDoesNotHoldUpTheOthersAndIsNotClaimedFor() {
        store.add(IntStream.range(0, 2_000)
                .mapToObj(i -> Message.to(i % 2 == 0 ? "bad" : "good").payload("{}"))
                .toList());
        FailingBroker bad = new FailingBroker();
        FailingBroker good = new FailingBroker();
        good.fails = item -> false;
        WatchedSource source = new WatchedSource(store.source());
        Poller poller = Poller.from(source)
                .to(Destination.byTopic().route("bad", bad).route("good", good))
                .ticker(scenario.time::ticker)
                .build();

        scenario.pollFor(SECOND, List.of(poller));
        assertThat(good.calls).hasValue(1_000);
        int claims = source.claimCalls.get();
        scenario.pollFor(MINUTE, List.of(poller));

        assertThat(bad.calls).hasValueBetween(MANY, MANY + CALLS_IN_A_MINUTE);
        assertThat(source.claimCalls.get() - claims)
                .as("one per poll, and one per call of the bad route")
                .isLessThanOrEqualTo((int) MINUTE.dividedBy(STEP) + CALLS_IN_A_MINUTE);
    }

    @Test
    void theRouteOfAllOtherTopicsIsLeftOutWithoutRememberingTheirNames() {
        store.add(IntStream.range(0, 2_000)
                .mapToObj(i -> Message.to(i % 2 == 0 ? "other-" + i : "named").payload("{}"))
                .toList());
        FailingBroker bad = new FailingBroker();
        FailingBroker good = new FailingBroker();
        good.fails = item -> false;
        Poller poller = scenario.poller(
                        Destination.byTopic().route("named", good).otherwise(bad))
                .build();

        scenario.pollFor(MINUTE, List.of(poller));
        assertThat(good.calls).hasValue(1_000);
        assertThat(bad.calls).hasValueBetween(MANY, MANY + CALLS_IN_A_MINUTE);
        bad.fails = item -> false;
        scenario.pollFor(MINUTE, List.of(poller));

        assertThat(scenario.with(Status.DONE)).hasSize(2_000);
    }

    @Test
    void pollersWithDestinationsOfTheirOwnDoNotSlowEachOtherDown() {
        store.add(unkeyed(1_000));
        FailingBroker down = new FailingBroker();
        FailingBroker up = new FailingBroker();
        up.fails = item -> false;

        scenario.poller(down).build().pollOnce();
        assertThat(scenario.events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        scenario.pollFor(SECOND.multipliedBy(10), List.of(scenario.poller(up).build()));

        assertThat(scenario.with(Status.DONE)).hasSize(1_000);
    }
}
