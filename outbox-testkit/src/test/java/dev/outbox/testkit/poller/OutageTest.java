package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.DestinationUnavailableException;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a destination that accepts nothing is asked, and what its items pay for it. */
@Timeout(60)
class OutageTest {
    private static final Duration STEP = TestTime.STEP;
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    /** Failures until an outage that is not recognised slows the calls down, and that one is. */
    private static final int MANY = 300;

    private static final int HANDFUL = 5;

    /** Calls in a minute with pauses of 0.2 s doubling to 5 s, each a quarter shorter at most. */
    private static final int CALLS_IN_A_MINUTE = 5 + 60 * 4 / 3 / 5 + 1;

    /**
     * The same if the route has accepted something just before: pauses of 0.2 s for 2 s, of a tenth of the time since then
     * until 50 s, and of 5 s. Over the steps between them the tenths add up to 10 times ln(50 / 2).
     */
    static final int CALLS_IN_A_MINUTE_AFTER_A_SUCCESS = (10 + 33 + 2) * 4 / 3;

    private final TestTime time = new TestTime();
    private final LongSupplier ticker = time::ticker;
    private final InMemoryStore store = new InMemoryStore(time.store);
    private final Events events = new Events();

    /** Fails what it is told to; counts its calls. */
    private static final class Broker implements Destination {
        private final AtomicInteger calls = new AtomicInteger();
        private volatile Predicate<WorkItem> fails = item -> true;
        private volatile Supplier<Exception> failure = () -> new IOException("down");

        @Override
        public void deliver(WorkItem item) throws Exception {
            calls.incrementAndGet();
            if (fails.test(item)) {
                throw failure.get();
            }
        }
    }

    private PollerBuilder poller(Destination destination) {
        return Poller.from(store.source()).to(destination).ticker(ticker).listener(events);
    }

    private List<Poller> pollers(int count, Destination destination) {
        return IntStream.range(0, count)
                .mapToObj(i -> poller(destination).build())
                .toList();
    }

    /** Has all of them poll, again and again, while time passes. */
    private void pollFor(Duration span, List<Poller> pollers) {
        time.pollFor(span, pollers, () -> {});
    }

    private List<ItemState> with(Status status) {
        return store.items().stream().filter(item -> item.status() == status).toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16})
    void anUnrecognisedOutageCostsAFewHundredCallsHoweverManyPollersThereAre(int count) {
        store.add(unkeyed(2_000));
        Broker broker = new Broker();

        pollFor(MINUTE, pollers(count, broker));

        assertThat(broker.calls).hasValueBetween(MANY, MANY + CALLS_IN_A_MINUTE);
        assertThat(events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        assertThat(with(Status.DEAD)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void aRecognisedOutageCostsAHandfulOfCallsAndNoAttempt(int count) {
        store.add(unkeyed(2_000));
        for (Supplier<Exception> failure : List.<Supplier<Exception>>of(
                () -> new DestinationUnavailableException("down"),
                () -> new IllegalStateException(new ConnectException("Connection refused")))) {
            Broker broker = new Broker();
            broker.failure = failure;

            pollFor(MINUTE, pollers(count, broker));

            assertThat(broker.calls).hasValueBetween(HANDFUL, HANDFUL + CALLS_IN_A_MINUTE);
            assertThat(store.items())
                    .allSatisfy(item -> assertThat(item.attempts()).isZero());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16})
    void afterASuccessTheFirstMinuteOfAnOutageCostsFortyCallsMoreHoweverManyPollersThereAre(int count) {
        for (boolean recognised : new boolean[] {false, true}) {
            Broker broker = new Broker();
            broker.fails = item -> false;
            List<Poller> pollers = pollers(count, broker);
            store.add(message("good"));
            pollFor(STEP, pollers);
            broker.fails = item -> true;
            broker.calls.set(0);
            if (recognised) {
                broker.failure = () -> new DestinationUnavailableException("down");
            }
            store.add(unkeyed(2_000));

            pollFor(MINUTE, pollers);

            int first = recognised ? HANDFUL : MANY;
            assertThat(broker.calls).hasValueBetween(first, first + CALLS_IN_A_MINUTE_AFTER_A_SUCCESS);
            pollFor(MINUTE, pollers);
            assertThat(broker.calls)
                    .as("the next minute is like any other")
                    .hasValueLessThanOrEqualTo(first + CALLS_IN_A_MINUTE_AFTER_A_SUCCESS + CALLS_IN_A_MINUTE);
            broker.fails = item -> false;
            pollFor(Duration.ofSeconds(11), pollers);
            assertThat(with(Status.DONE)).hasSameSizeAs(store.items());
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
                .mapToObj(i ->
                        Poller.from(store.source()).toBatch(down).ticker(ticker).build())
                .toList();

        pollFor(MINUTE, pollers);

        int halves = 10; // from 500 items to one
        assertThat(calls).hasValueBetween(MANY, MANY + halves + CALLS_IN_A_MINUTE);
        assertThat(with(Status.DEAD)).isEmpty();
    }

    @Test
    void aSlowRouteOfTopicsThatAPollerDoesNotPollDoesNotKeepItAwake() {
        store.add(IntStream.range(0, 400)
                .mapToObj(i -> Message.to("bad").payload("{}"))
                .toList());
        Broker bad = new Broker();
        bad.failure = () -> new DestinationUnavailableException("down");
        Destination routes = Destination.byTopic().route("bad", bad).route("good", new Broker());
        pollFor(SECOND, List.of(poller(routes).topics("bad").build()));
        assertThat(events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        WatchedSource source = new WatchedSource(store.source());
        time.pass(MINUTE); // the pause is over, but nobody calls
        try (Poller other = Poller.from(source)
                .to(routes)
                .topics("good")
                .ticker(ticker)
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
        Broker broker = new Broker();

        pollFor(
                MINUTE,
                List.of(poller(broker)
                        .outage(e -> "down".equals(e.getMessage()))
                        .build()));

        assertThat(store.items()).allSatisfy(item -> assertThat(item.attempts()).isZero());
    }

    @Test
    void afterAnOutageEverythingIsDeliveredWithinSeconds() {
        store.add(unkeyed(5_000));
        Broker broker = new Broker();
        List<Poller> pollers = pollers(4, broker);
        pollFor(MINUTE.multipliedBy(10), pollers);

        broker.fails = item -> false;
        pollFor(Duration.ofSeconds(11), pollers);

        assertThat(with(Status.DONE)).hasSize(5_000);
        assertThat(events.count(OutboxEvent.DestinationUp.class)).isEqualTo(1);
    }

    @Test
    void aRouteThatAcceptsNothingDoesNotHoldUpTheOthersAndIsNotClaimedFor() {
        store.add(IntStream.range(0, 2_000)
                .mapToObj(i -> Message.to(i % 2 == 0 ? "bad" : "good").payload("{}"))
                .toList());
        Broker bad = new Broker();
        Broker good = new Broker();
        good.fails = item -> false;
        WatchedSource source = new WatchedSource(store.source());
        Poller poller = Poller.from(source)
                .to(Destination.byTopic().route("bad", bad).route("good", good))
                .ticker(ticker)
                .build();

        pollFor(SECOND, List.of(poller));
        assertThat(good.calls).hasValue(1_000);
        int claims = source.claimCalls.get();
        pollFor(MINUTE, List.of(poller));

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
        Broker bad = new Broker();
        Broker good = new Broker();
        good.fails = item -> false;
        Poller poller = poller(Destination.byTopic().route("named", good).otherwise(bad))
                .build();

        pollFor(MINUTE, List.of(poller));
        assertThat(good.calls).hasValue(1_000);
        assertThat(bad.calls).hasValueBetween(MANY, MANY + CALLS_IN_A_MINUTE);
        bad.fails = item -> false;
        pollFor(MINUTE, List.of(poller));

        assertThat(with(Status.DONE)).hasSize(2_000);
    }

    @Test
    void pollersWithDestinationsOfTheirOwnDoNotSlowEachOtherDown() {
        store.add(unkeyed(1_000));
        Broker down = new Broker();
        Broker up = new Broker();
        up.fails = item -> false;

        poller(down).build().pollOnce();
        assertThat(events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        pollFor(SECOND.multipliedBy(10), List.of(poller(up).build()));

        assertThat(with(Status.DONE)).hasSize(1_000);
    }

    @Test
    void anUnrecognisedOutageKillsAtMostFourItems() {
        store.add(run("only key", 20));
        Broker broker = new Broker();
        List<Poller> pollers = List.of(poller(broker)
                .retry(RetryPolicy.standard().baseDelay(STEP).maxAttempts(3))
                .build());

        pollFor(MINUTE.multipliedBy(10), pollers);

        assertThat(with(Status.DEAD)).hasSize(4);
        assertThat(with(Status.READY)).hasSize(16);
        assertThat(state(store, with(Status.READY).get(0).id()).lastError()).contains("down");
        broker.fails = item -> false;
        pollFor(MINUTE, pollers);
        assertThat(with(Status.DONE)).hasSize(16);
    }

    @Test
    void aSingleFailingMessageInAnIdleSystemIsDeadByItsRetryPolicy() {
        String bad = store.add(message("bad")).get(0);
        Broker broker = new Broker();

        pollFor(MINUTE.multipliedBy(10), pollers(1, broker));

        assertThat(state(store, bad).status()).isEqualTo(Status.DEAD);
        assertThat(broker.calls).hasValue(RetryPolicy.standard().maxAttempts());
    }

    @Test
    void fivePoisonMessagesAloneWaitForASuccessOrTheMaximumAge() {
        store.add(unkeyed(5));
        Broker broker = new Broker();
        RetryPolicy quick =
                RetryPolicy.standard().baseDelay(STEP).maxDelay(SECOND).maxAttempts(3);
        List<Poller> pollers = List.of(
                poller(broker).retry(quick).maxAge(Duration.ofMinutes(10)).build());

        pollFor(Duration.ofMinutes(8), pollers);
        assertThat(with(Status.READY)).hasSize(5);
        pollFor(Duration.ofMinutes(3), pollers);

        assertThat(with(Status.DEAD)).hasSize(5);
        assertThat(with(Status.DEAD).get(0).lastError()).contains("older than the maximum age");
    }

    @Test
    void fivePoisonMessagesBesideGoodOnesAreDeadByTheirRetryPolicy() {
        store.add(IntStream.range(0, 5).mapToObj(i -> message("bad")).toList());
        Broker broker = new Broker();
        broker.fails = item -> item.payload().equals("bad");
        List<Poller> pollers = List.of(poller(broker)
                .retry(RetryPolicy.standard().baseDelay(STEP).maxAttempts(3))
                .build());

        for (int i = 0; i < 100; i++) {
            store.add(message("good"));
            pollFor(STEP, pollers);
        }

        assertThat(with(Status.DONE)).hasSize(100);
        assertThat(with(Status.DEAD)).hasSize(5);
        assertThat(broker.calls).hasValueLessThan(100 + 5 * 3 * 3);
    }

    @Test
    void aProcessThatIsRestartedInAnOutageAgainAndAgainKillsNothing() {
        store.add(unkeyed(50));
        RetryPolicy quick =
                RetryPolicy.standard().baseDelay(STEP).maxDelay(STEP).maxAttempts(3);

        for (int process = 0; process < 20; process++) {
            Source ofAnotherProcess = new ForwardingSource(store.source()) {
                @Override
                public Object queue() {
                    return this;
                }
            };
            Poller poller = Poller.from(ofAnotherProcess)
                    .to(new Broker())
                    .ticker(ticker)
                    .batchSize(4)
                    .retry(quick)
                    .build();
            pollFor(STEP.multipliedBy(2), List.of(poller));
        }

        assertThat(with(Status.DEAD)).isEmpty();
    }

    @Test
    void readTimeoutsCountUnlessTheRouteAcceptsNothing() {
        String bad = store.add(message("bad")).get(0);
        Broker broker = new Broker();
        broker.failure = () -> new SocketTimeoutException("Read timed out");
        broker.fails = item -> item.payload().equals("bad");
        List<Poller> pollers = pollers(1, broker);
        for (int i = 0; i < 600; i++) {
            store.add(message("good"));
            pollFor(SECOND, pollers);
        }
        assertThat(state(store, bad).status()).isEqualTo(Status.DEAD);

        broker.fails = item -> true;
        store.add(unkeyed(2_000));
        pollFor(MINUTE, pollers);

        assertThat(store.items())
                .filteredOn(item -> item.status() == Status.READY)
                .allSatisfy(item -> assertThat(item.attempts()).isLessThanOrEqualTo(1));
        assertThat(broker.calls)
                .as("recognised once five have failed")
                .hasValueLessThan(
                        600 + RetryPolicy.standard().maxAttempts() + 2 * HANDFUL + CALLS_IN_A_MINUTE_AFTER_A_SUCCESS);
    }

    @Test
    void aDestinationThatIsUpForTwoSecondsAndDownForTwoGetsEverything() {
        store.add(unkeyed(2_000));
        Broker broker = new Broker();
        Duration turn = Duration.ofSeconds(2);
        broker.fails = item -> ticker.getAsLong() / turn.toNanos() % 2 == 0;

        pollFor(MINUTE, pollers(4, broker));

        assertThat(with(Status.DONE)).hasSize(2_000);
    }

    @Test
    void badMessagesThatTakeFiveSecondsToFailEndAsDeadBesideGoodOnes() {
        store.add(IntStream.range(0, 8).mapToObj(i -> message("bad")).toList());
        Broker broker = new Broker();
        broker.fails = item -> {
            if (item.payload().equals("bad")) {
                time.pass(Duration.ofSeconds(5));
            }
            return item.payload().equals("bad");
        };
        Poller poller = poller(broker)
                .batchSize(4)
                .lease(HOUR)
                .retry(new RetryPolicy(MINUTE, MINUTE, 5))
                .build();
        for (int i = 0; i < 400; i++) {
            store.add(message("good"));
            pollFor(SECOND, List.of(poller));
        }

        assertThat(with(Status.DONE)).hasSize(400);
        assertThat(with(Status.DEAD)).hasSize(8);
    }

    @Test
    void poisonInAnOutageIsDeadOnceTheOutageIsOver() {
        store.add(IntStream.range(0, 500)
                .mapToObj(i -> message(i % 10 == 0 ? "bad" : "good"))
                .toList());
        Broker broker = new Broker();
        List<Poller> pollers = pollers(1, broker);
        pollFor(MINUTE.multipliedBy(10), pollers);
        assertThat(with(Status.DEAD)).isEmpty();

        broker.fails = item -> item.payload().equals("bad");
        int minutes = 20;
        for (int second = 0; second < minutes * 60; second++) {
            store.add(message("good"));
            pollers.forEach(Poller::pollOnce);
            time.pass(SECOND);
        }

        assertThat(with(Status.DONE)).hasSize(450 + minutes * 60);
        assertThat(with(Status.DEAD)).hasSize(50);
    }
}
