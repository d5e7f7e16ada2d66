package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.DestinationUnavailableException;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Outages while messages keep coming, one at each step. */
@Timeout(60)
class OutageUnderLoadTest {
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration TURN = Duration.ofSeconds(2);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);
    private int calls;

    /** Pollers with one destination that answers with this, called item by item or batch by batch. */
    private List<Poller> pollers(int count, String form, RetryPolicy retry, Function<WorkItem, Outcome> answer) {
        Destination one = item -> {
            calls++;
            if (answer.apply(item) instanceof Outcome.Retry failed) {
                throw (Exception) failed.cause();
            }
        };
        BatchDestination batch = items -> {
            calls++;
            return items.stream().map(answer).toList();
        };
        return IntStream.range(0, count)
                .mapToObj(i -> Poller.from(store.source()))
                .map(builder -> form.equals("to") ? builder.to(one) : builder.toBatch(batch))
                .map(builder ->
                        builder.retry(retry).lease(HOUR).ticker(time::ticker).build())
                .toList();
    }

    private void addOne() {
        store.add(message("good"));
    }

    private long count(Status status) {
        return store.items().stream()
                .map(ItemState::status)
                .filter(status::equals)
                .count();
    }

    @ParameterizedTest
    @CsvSource({"to, 3", "to, 4", "toBatch, 3", "toBatch, 4"})
    void aDestinationThatIsUpForTwoSecondsAndDownForTwoMakesProgressAndKillsAtMostFourPerOutage(
            String form, int attempts) {
        boolean[] down = {false};
        RetryPolicy quick =
                RetryPolicy.standard().baseDelay(Duration.ofMillis(200)).maxAttempts(attempts);
        List<Poller> pollers =
                pollers(1, form, quick, item -> down[0] ? Outcome.retry(new IOException("down")) : Outcome.done());

        for (int turn = 0; turn < MINUTE.dividedBy(TURN); turn++) {
            long done = count(Status.DONE);
            long dead = count(Status.DEAD);
            down[0] = turn % 2 == 1;
            time.pollFor(TURN, pollers, this::addOne);

            if (down[0]) {
                assertThat(count(Status.DEAD) - dead).as("turn %s", turn).isLessThanOrEqualTo(4);
            } else {
                assertThat(count(Status.DONE) - done)
                        .as("turn %s", turn)
                        .isGreaterThanOrEqualTo(TURN.dividedBy(TestTime.STEP));
            }
        }
        down[0] = false;
        time.pollFor(Duration.ofSeconds(10), pollers, () -> {});

        assertThat(count(Status.DONE) + count(Status.DEAD))
                .isEqualTo(store.items().size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"to", "toBatch"})
    void slowFailuresDelayGoodMessagesNoMoreThanSlowSuccesses(String form) {
        assertThat(slowestBeside(form, Outcome.retry(new IOException("no"))))
                .isPositive()
                .isLessThanOrEqualTo(slowestBeside(form, Outcome.done()));
    }

    /** When the last of many good messages is delivered that came together with eight that take five seconds each. */
    private Duration slowestBeside(String form, Outcome ofSlow) {
        store.add(Stream.concat(
                        IntStream.range(0, 8).mapToObj(i -> message("slow")),
                        IntStream.range(0, 200).mapToObj(i -> message("good")))
                .toList());
        long[] last = {0};
        long began = time.ticker();
        RetryPolicy later = new RetryPolicy(HOUR, HOUR, 5);
        List<Poller> pollers = pollers(1, form, later, item -> {
            if (item.payload().equals("slow")) {
                time.pass(Duration.ofSeconds(5));
                return ofSlow;
            }
            last[0] = time.ticker();
            return Outcome.done();
        });

        time.pollFor(SECOND, pollers, () -> {});

        assertThat(count(Status.DONE)).isGreaterThanOrEqualTo(200);
        return Duration.ofNanos(last[0] - began);
    }

    @ParameterizedTest
    @CsvSource({"to, true", "to, false", "toBatch, true", "toBatch, false"})
    void anOutageOfAMinuteUnderLoadCostsAHandfulOfMessagesAtMostAndIsOverInSeconds(String form, boolean recognised) {
        boolean[] down = {false};
        Outcome fails =
                Outcome.retry(recognised ? new DestinationUnavailableException("down") : new IOException("down"));
        List<Poller> pollers =
                pollers(4, form, RetryPolicy.standard().maxAttempts(3), item -> down[0] ? fails : Outcome.done());
        time.pollFor(Duration.ofSeconds(10), pollers, this::addOne);
        assertThat(count(Status.DONE)).isEqualTo(store.items().size());

        down[0] = true;
        calls = 0;
        time.pollFor(MINUTE, pollers, this::addOne);
        assertThat(calls).isLessThanOrEqualTo((recognised ? 5 : 300) + OutageTest.CALLS_IN_A_MINUTE_AFTER_A_SUCCESS);

        down[0] = false;
        time.pollFor(Duration.ofSeconds(11), pollers, this::addOne);
        assertThat(count(Status.DEAD)).isLessThanOrEqualTo(recognised ? 0 : 4);
        assertThat(count(Status.DONE) + count(Status.DEAD))
                .isEqualTo(store.items().size());
    }

    @Test
    void aRouteThatIsDownCostsAHealthyOneNoPolls() {
        Destination routes = Destination.byTopic()
                .route("bad", item -> {
                    throw new IOException("down");
                })
                .route("good", item -> {});
        Poller poller =
                Poller.from(store.source()).to(routes).ticker(time::ticker).build();
        long alone = pollsFor(poller, 1);
        store.add(IntStream.range(0, 2_000)
                .mapToObj(i -> Message.to("bad").payload("{}"))
                .toList());
        time.pollFor(SECOND, List.of(poller), () -> {});

        assertThat(pollsFor(poller, 2)).isLessThanOrEqualTo(alone);
    }

    /** How many polls deliver so many good messages, each behind a bad one unless they are alone. */
    private long pollsFor(Poller poller, int topics) {
        int good = 2_000;
        store.add(IntStream.range(0, good * topics)
                .mapToObj(i -> Message.to(i % topics == 0 ? "good" : "bad").payload("{}"))
                .toList());
        long goal = count(Status.DONE) + good;
        int polls = 0;
        for (; count(Status.DONE) < goal; polls++) {
            time.pollFor(TestTime.STEP, List.of(poller), () -> {});
        }
        return polls;
    }
}
