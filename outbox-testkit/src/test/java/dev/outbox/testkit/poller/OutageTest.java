package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.BreakerPolicy;
import dev.outbox.Destination;
import dev.outbox.Message;
import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
import dev.outbox.RetryPolicy;
import dev.outbox.SharedBreakers;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a destination that is down is asked, and what its items pay for it. */
@Timeout(60)
class OutageTest {
    private static final Duration STEP = Duration.ofMillis(50);
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final TestTime time = new TestTime();
    private final InMemoryStore store = new InMemoryStore(time.store);
    private final SharedBreakers breakers = new SharedBreakers();
    private final Events events = new Events();

    /** Fails what it is told to; counts its calls. */
    private static final class Broker implements Destination {
        private final AtomicInteger calls = new AtomicInteger();
        private volatile Predicate<WorkItem> fails = item -> true;

        @Override
        public void deliver(WorkItem item) throws IOException {
            calls.incrementAndGet();
            if (fails.test(item)) {
                throw new IOException("down");
            }
        }
    }

    private PollerBuilder poller(Destination destination) {
        return Poller.from(store.source())
                .to(destination)
                .breakers(breakers)
                .ticker(time::ticker)
                .listener(events);
    }

    private List<Poller> pollers(int count, Destination destination) {
        return IntStream.range(0, count)
                .mapToObj(i -> poller(destination).build())
                .toList();
    }

    /** Has all of them poll, again and again, while time passes. */
    private void pollFor(Duration span, List<Poller> pollers) {
        for (Duration left = span; !left.isZero(); left = left.minus(STEP)) {
            pollers.forEach(Poller::pollOnce);
            time.pass(STEP);
        }
    }

    private List<Integer> attempts() {
        return store.items().stream().map(item -> item.attempts()).distinct().toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 16})
    void aDeadDestinationIsCalledAsOftenByManyPollersAsByOne(int count) {
        store.add(unkeyed(500));
        Broker broker = new Broker();

        pollFor(MINUTE, pollers(count, broker));

        // five failures open the breaker; probes after 1, 2, 4, 8 and 16 s, each a quarter later at most
        assertThat(broker.calls).hasValue(5 + 5);
        assertThat(events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void soIsADeadRouteAndTheOtherRoutesDeliverAll(int count) {
        store.add(IntStream.range(0, 1_000)
                .mapToObj(i -> Message.to(i % 2 == 0 ? "bad" : "good").payload("{}"))
                .toList());
        Broker bad = new Broker();
        Broker good = new Broker();
        good.fails = item -> false;
        List<Poller> pollers = IntStream.range(0, count)
                .mapToObj(i -> poller(Destination.byTopic().route("bad", bad).route("good", good))
                        .build())
                .toList();

        pollFor(MINUTE, pollers);

        assertThat(good.calls).hasValue(500);
        assertThat(bad.calls).hasValue(5 + 5);
        assertThat(store.items())
                .filteredOn(item -> item.status() != Status.DONE)
                .hasSize(500)
                .allSatisfy(item -> assertThat(item.attempts()).isZero());
    }

    @Test
    void aDeadRouteCostsTheOtherRoutesNextToNoClaims() {
        int alone = claimsUntilTheGoodRouteIsDone(0);
        int besideADeadRoute = claimsUntilTheGoodRouteIsDone(500);

        // what was claimed of the dead route before it was known to be, and with the probes
        assertThat(besideADeadRoute).isBetween(alone, alone + 2);
    }

    private int claimsUntilTheGoodRouteIsDone(int badItems) {
        InMemoryStore both = new InMemoryStore(time.store);
        both.add(IntStream.range(0, badItems)
                .mapToObj(i -> Message.to("bad").payload("{}"))
                .toList());
        both.add(IntStream.range(0, 500)
                .mapToObj(i -> Message.to("good").payload("{}"))
                .toList());
        Broker bad = new Broker();
        Broker good = new Broker();
        good.fails = item -> false;
        WatchedSource source = new WatchedSource(both.source());
        Poller poller = Poller.from(source)
                .to(Destination.byTopic().route("bad", bad).route("good", good))
                .batchSize(50)
                .ticker(time::ticker)
                .build();
        while (good.calls.get() < 500) {
            poller.pollOnce();
            time.pass(Duration.ofMillis(1));
        }
        assertThat(bad.calls).hasValue(badItems == 0 ? 0 : 5);
        return source.claimCalls.get();
    }

    @Test
    void pollersWithDestinationsOfTheirOwnDoNotStopEachOther() {
        store.add(unkeyed(50));
        Broker down = new Broker();
        Broker up = new Broker();
        up.fails = item -> false;
        Poller one = poller(down).topics("t").build();
        Poller other = poller(up).topics("t").build();

        one.pollOnce();
        assertThat(events.count(OutboxEvent.DestinationDown.class)).isEqualTo(1);
        time.pass(Duration.ofSeconds(2));
        other.pollOnce();

        assertThat(up.calls).hasValue(50);
    }

    @Test
    void whoFindsTheDestinationBackWakesTheOthers() {
        Broker broker = new Broker();
        BreakerPolicy longPause = new BreakerPolicy(1, HOUR, HOUR);
        String first = store.add(Message.to("first").payload("{}")).get(0);
        try (Poller finder = poller(broker)
                        .topics("first")
                        .breaker(longPause)
                        .idle(HOUR, HOUR)
                        .start();
                Poller other = poller(broker)
                        .topics("second")
                        .breaker(longPause)
                        .idle(HOUR, HOUR)
                        .build()) {
            await("the breaker opens").until(() -> state(store, first).attempts() == 0 && broker.calls.get() == 1);
            other.start();
            String second = store.add(Message.to("second").payload("{}")).get(0);
            other.wakeUp();

            broker.fails = item -> false;
            time.pass(HOUR.multipliedBy(2));
            finder.wakeUp();

            awaitStatus(store, first, Status.DONE);
            awaitStatus(store, second, Status.DONE);
        }
    }

    @Test
    void anOutageOfASingleKeyUsesUpTheAttemptsOfFourItemsAndOpensTheBreakerWithTheFifth() {
        store.add(run("only key", 20));
        Broker broker = new Broker();
        Poller poller = poller(broker).build();

        while (events.count(OutboxEvent.DestinationDown.class) == 0 && broker.calls.get() < 1_000) {
            poller.pollOnce();
            time.pass(Duration.ofSeconds(1));
        }
        int dead = 4;
        assertThat(broker.calls).hasValue(dead * RetryPolicy.standard().maxAttempts() + 1);
        assertThat(events.count(OutboxEvent.Dead.class)).isEqualTo(dead);
        pollFor(HOUR, List.of(poller));

        assertThat(events.count(OutboxEvent.Dead.class)).isEqualTo(dead);
        assertThat(store.items().subList(dead, 20))
                .allSatisfy(item -> assertThat(item.attempts()).isZero());
    }

    @Test
    void withAThresholdOfOneTheOutageOfASingleKeyUsesUpNone() {
        store.add(run("only key", 20));
        Broker broker = new Broker();
        List<Poller> pollers = List.of(
                poller(broker).breaker(BreakerPolicy.standard().failures(1)).build());

        pollFor(HOUR, pollers);
        assertThat(attempts()).containsExactly(0);
        broker.fails = item -> false;
        pollFor(MINUTE, pollers);

        assertThat(store.items()).allSatisfy(item -> {
            assertThat(item.status()).isEqualTo(Status.DONE);
            assertThat(item.attempts()).isEqualTo(1);
        });
    }

    @Test
    void withAThresholdOfOneABadItemAmongGoodOnesIsDeadAllTheSame() {
        String bad = store.add(message("bad")).get(0);
        Broker broker = new Broker();
        broker.fails = item -> item.payload().equals("bad");
        List<Poller> pollers = List.of(
                poller(broker).breaker(BreakerPolicy.standard().failures(1)).build());

        int added = 0;
        while (state(store, bad).status() != Status.DEAD && added < 2_000) {
            store.add(message("good"));
            added++;
            pollFor(Duration.ofSeconds(1), pollers);
        }

        assertThat(state(store, bad).status()).isEqualTo(Status.DEAD);
        pollFor(MINUTE, pollers);
        assertThat(store.items())
                .filteredOn(item -> item.status() == Status.DONE)
                .hasSize(added);
    }
}
