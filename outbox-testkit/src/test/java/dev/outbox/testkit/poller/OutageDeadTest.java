package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static dev.outbox.testkit.poller.OutageScenario.MINUTE;
import static dev.outbox.testkit.poller.OutageScenario.SECOND;
import static dev.outbox.testkit.poller.OutageScenario.STEP;
import static dev.outbox.testkit.poller.OutageTest.CALLS_IN_A_MINUTE_AFTER_A_SUCCESS;
import static dev.outbox.testkit.poller.OutageTest.HANDFUL;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.spi.Source;
import dev.outbox.testkit.ForwardingSource;
import dev.outbox.testkit.InMemoryStore;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an outage makes Dead, and what is Dead beside it. */
@Timeout(60)
class OutageDeadTest {
    private final OutageScenario scenario = new OutageScenario();
    private final InMemoryStore store = scenario.store;

    @Test
    void anUnrecognisedOutageKillsAtMostFourItems() {
        store.add(run("only key", 20));
        FailingBroker broker = new FailingBroker();
        List<Poller> pollers = List.of(scenario.poller(broker)
                .retry(RetryPolicy.standard().baseDelay(STEP).maxAttempts(3))
                .build());

        scenario.pollFor(MINUTE.multipliedBy(10), pollers);

        assertThat(scenario.with(Status.DEAD)).hasSize(4);
        assertThat(scenario.with(Status.READY)).hasSize(16);
        assertThat(state(store, scenario.with(Status.READY).get(0).id()).lastError())
                .contains("down");
        broker.fails = item -> false;
        scenario.pollFor(MINUTE, pollers);
        assertThat(scenario.with(Status.DONE)).hasSize(16);
    }

    @Test
    void aSingleFailingMessageInAnIdleSystemIsDeadByItsRetryPolicy() {
        String bad = store.add(message("bad")).get(0);
        FailingBroker broker = new FailingBroker();

        scenario.pollFor(MINUTE.multipliedBy(10), scenario.pollers(1, broker));

        assertThat(state(store, bad).status()).isEqualTo(Status.DEAD);
        assertThat(broker.calls).hasValue(RetryPolicy.standard().maxAttempts());
    }

    @Test
    void fivePoisonMessagesAloneWaitForASuccessOrTheMaximumAge() {
        store.add(unkeyed(5));
        FailingBroker broker = new FailingBroker();
        RetryPolicy quick =
                RetryPolicy.standard().baseDelay(STEP).maxDelay(SECOND).maxAttempts(3);
        List<Poller> pollers = List.of(scenario.poller(broker)
                .retry(quick)
                .maxAge(Duration.ofMinutes(10))
                .build());

        scenario.pollFor(Duration.ofMinutes(8), pollers);
        assertThat(scenario.with(Status.READY)).hasSize(5);
        scenario.pollFor(Duration.ofMinutes(3), pollers);

        assertThat(scenario.with(Status.DEAD)).hasSize(5);
        assertThat(scenario.with(Status.DEAD).get(0).lastError()).contains("older than the maximum age");
    }

    @Test
    void fivePoisonMessagesBesideGoodOnesAreDeadByTheirRetryPolicy() {
        store.add(IntStream.range(0, 5).mapToObj(i -> message("bad")).toList());
        FailingBroker broker = new FailingBroker();
        broker.fails = item -> item.payload().equals("bad");
        List<Poller> pollers = List.of(scenario.poller(broker)
                .retry(RetryPolicy.standard().baseDelay(STEP).maxAttempts(3))
                .build());

        for (int i = 0; i < 100; i++) {
            store.add(message("good"));
            scenario.pollFor(STEP, pollers);
        }

        assertThat(scenario.with(Status.DONE)).hasSize(100);
        assertThat(scenario.with(Status.DEAD)).hasSize(5);
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
                    .to(new FailingBroker())
                    .ticker(scenario.time::ticker)
                    .batchSize(4)
                    .retry(quick)
                    .build();
            scenario.pollFor(STEP.multipliedBy(2), List.of(poller));
        }

        assertThat(scenario.with(Status.DEAD)).isEmpty();
    }

    @Test
    void readTimeoutsCountUnlessTheRouteAcceptsNothing() {
        String bad = store.add(message("bad")).get(0);
        FailingBroker broker = new FailingBroker();
        broker.failure = () -> new SocketTimeoutException("Read timed out");
        broker.fails = item -> item.payload().equals("bad");
        List<Poller> pollers = scenario.pollers(1, broker);
        for (int i = 0; i < 600; i++) {
            store.add(message("good"));
            scenario.pollFor(SECOND, pollers);
        }
        assertThat(state(store, bad).status()).isEqualTo(Status.DEAD);

        broker.fails = item -> true;
        store.add(unkeyed(2_000));
        scenario.pollFor(MINUTE, pollers);

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
        FailingBroker broker = new FailingBroker();
        Duration turn = Duration.ofSeconds(2);
        broker.fails = item -> scenario.time.ticker() / turn.toNanos() % 2 == 0;

        scenario.pollFor(MINUTE, scenario.pollers(4, broker));

        assertThat(scenario.with(Status.DONE)).hasSize(2_000);
    }

    @Test
    void badMessagesThatTakeFiveSecondsToFailEndAsDeadBesideGoodOnes() {
        store.add(IntStream.range(0, 8).mapToObj(i -> message("bad")).toList());
        FailingBroker broker = new FailingBroker();
        broker.fails = item -> {
            if (item.payload().equals("bad")) {
                scenario.time.pass(Duration.ofSeconds(5));
            }
            return item.payload().equals("bad");
        };
        Poller poller = scenario.poller(broker)
                .batchSize(4)
                .lease(HOUR)
                .retry(new RetryPolicy(MINUTE, MINUTE, 5))
                .build();
        for (int i = 0; i < 400; i++) {
            store.add(message("good"));
            scenario.pollFor(SECOND, List.of(poller));
        }

        assertThat(scenario.with(Status.DONE)).hasSize(400);
        assertThat(scenario.with(Status.DEAD)).hasSize(8);
    }

    @Test
    void poisonInAnOutageIsDeadOnceTheOutageIsOver() {
        store.add(IntStream.range(0, 500)
                .mapToObj(i -> message(i % 10 == 0 ? "bad" : "good"))
                .toList());
        FailingBroker broker = new FailingBroker();
        List<Poller> pollers = scenario.pollers(1, broker);
        scenario.pollFor(MINUTE.multipliedBy(10), pollers);
        assertThat(scenario.with(Status.DEAD)).isEmpty();

        broker.fails = item -> item.payload().equals("bad");
        int minutes = 20;
        for (int second = 0; second < minutes * 60; second++) {
            store.add(message("good"));
            pollers.forEach(Poller::pollOnce);
            scenario.time.pass(SECOND);
        }

        assertThat(scenario.with(Status.DONE)).hasSize(450 + minutes * 60);
        assertThat(scenario.with(Status.DEAD)).hasSize(50);
    }
}
