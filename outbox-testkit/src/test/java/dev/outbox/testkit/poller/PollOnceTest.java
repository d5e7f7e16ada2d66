package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.status;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.ManualClock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(60)
class PollOnceTest {
    private static final Duration SECOND = Duration.ofSeconds(1);

    private final ManualClock clock = new ManualClock();
    private final InMemoryStore store = new InMemoryStore(clock);
    private final Events events = new Events();
    private final List<WorkItem> delivered = new ArrayList<>();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(store.source()).to(destination).listener(events);
    }

    private static Destination failing(Throwable failure) {
        return item -> {
            if (failure instanceof Error error) {
                throw error;
            }
            throw (Exception) failure;
        };
    }

    @Test
    void itDeliversWhatIsDueSettlesItAndSaysHowMuchItClaimed() {
        List<String> ids =
                store.add(message("a"), message("b").key("k"), message("later").dueIn(SECOND));

        assertThat(poller(delivered::add).build().pollOnce()).isEqualTo(2);

        assertThat(delivered).extracting(WorkItem::payload).containsExactlyInAnyOrder("a", "b");
        assertThat(store.items()).extracting(ItemState::status).containsExactly(Status.DONE, Status.DONE, Status.READY);
        assertThat(events.of(OutboxEvent.Done.class))
                .extracting(done -> done.item().id())
                .containsExactlyInAnyOrder(ids.get(0), ids.get(1));
    }

    @Test
    void itClaimsOneBatchAtATime() {
        store.add(unkeyed(3));
        Poller poller = poller(delivered::add).batchSize(2).build();

        assertThat(List.of(poller.pollOnce(), poller.pollOnce(), poller.pollOnce()))
                .containsExactly(2, 1, 0);
        assertThat(delivered).extracting(WorkItem::payload).containsExactly("0", "1", "2");
    }

    @Test
    void itIsRefusedOnAPollerThatWasStartedOrClosed() {
        Poller poller = poller(delivered::add).name("p").start();
        try {
            assertThatThrownBy(poller::pollOnce)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("poller p was started or closed; pollOnce() needs a poller that was not");
        } finally {
            poller.close();
        }

        store.add(message("a"));
        assertThatThrownBy(poller::pollOnce).isInstanceOf(IllegalStateException.class);
        assertThat(delivered).isEmpty();
    }

    @Test
    void aFailedItemIsTriedAgainWhenItIsDueAndSucceeds() {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(item -> {
                    delivered.add(item);
                    if (item.attempt() == 1) {
                        throw new IOException("broker is down");
                    }
                })
                .build();

        assertThat(poller.pollOnce()).isOne();
        assertThat(state(store, id))
                .isEqualTo(new ItemState(id, Status.READY, 1, "java.io.IOException: broker is down"));
        assertThat(poller.pollOnce()).as("it is not due yet").isZero();

        clock.advance(SECOND);
        assertThat(poller.pollOnce()).isOne();
        assertThat(delivered).extracting(WorkItem::attempt).containsExactly(1, 2);
        assertThat(status(store, id)).isEqualTo(Status.DONE);
        assertThat(events.of(OutboxEvent.Retried.class)).singleElement().satisfies(retried -> {
            assertThat(retried.item().id()).isEqualTo(id);
            assertThat(retried.delay()).isBetween(Duration.ZERO, SECOND);
            assertThat(retried.error()).isEqualTo("java.io.IOException: broker is down");
        });
    }

    @Test
    void poisonIsDeadAfterItsLastAttemptWithItsError() {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(item -> {
                    delivered.add(item);
                    throw new IOException("attempt " + item.attempt());
                })
                .retry(RetryPolicy.standard().maxAttempts(3))
                .build();

        for (int i = 0; i < 10; i++) {
            poller.pollOnce();
            clock.advance(Duration.ofMinutes(5));
        }

        assertThat(delivered).extracting(WorkItem::attempt).containsExactly(1, 2, 3);
        assertThat(state(store, id)).isEqualTo(new ItemState(id, Status.DEAD, 3, "java.io.IOException: attempt 3"));
        assertThat(events.of(OutboxEvent.Dead.class))
                .singleElement()
                .satisfies(dead -> assertThat(dead.error()).isEqualTo("java.io.IOException: attempt 3"));
    }

    @Test
    void aPermanentFailureIsDeadAtOnce() {
        String id = store.add(message("a")).get(0);

        poller(failing(new PermanentFailureException("no such customer")))
                .build()
                .pollOnce();

        assertThat(status(store, id)).isEqualTo(Status.DEAD);
        assertThat(state(store, id).lastError()).contains("no such customer");
    }

    @Test
    void aDeadItemThatBlocksEndsItsRun() {
        List<String> ids = store.add(
                message("a").key("k"), message("b").key("k"), message("c").key("other"));
        Poller poller = poller(item -> {
                    delivered.add(item);
                    if (item.payload().equals("a")) {
                        throw new PermanentFailureException("no such customer");
                    }
                })
                .onDead(OnDead.BLOCK)
                .build();

        poller.pollOnce();
        assertThat(poller.pollOnce()).as("the key is blocked").isZero();

        assertThat(delivered).extracting(WorkItem::payload).containsExactlyInAnyOrder("a", "c");
        assertThat(status(store, ids.get(0))).isEqualTo(Status.DEAD);
        assertThat(state(store, ids.get(1))).isEqualTo(new ItemState(ids.get(1), Status.READY, 0, null));
    }

    @Test
    void aDeadItemIsSkippedByDefault() {
        store.add(message("a").key("k"), message("b").key("k"));
        Poller poller = poller(item -> {
                    delivered.add(item);
                    if (item.payload().equals("a")) {
                        throw new PermanentFailureException("no such customer");
                    }
                })
                .build();

        poller.pollOnce();

        assertThat(delivered).extracting(WorkItem::payload).containsExactly("a", "b");
    }

    @Test
    void retryAfterCountsNoAttempt() {
        String id = store.add(message("a")).get(0);
        List<Integer> attempts = new ArrayList<>();
        Poller poller = poller(item -> {
                    attempts.add(item.attempt());
                    if (attempts.size() <= 20) {
                        throw new RetryAfterException(Duration.ofMinutes(1), "throttled");
                    }
                })
                .retry(RetryPolicy.standard().maxAttempts(1))
                .build();

        for (int i = 0; i < 20; i++) {
            assertThat(poller.pollOnce()).isOne();
            assertThat(state(store, id).status()).isEqualTo(Status.READY);
            assertThat(state(store, id).attempts()).isZero();
            assertThat(state(store, id).lastError()).contains("throttled");
            clock.advance(Duration.ofSeconds(59));
            assertThat(poller.pollOnce()).as("not before its delay").isZero();
            clock.advance(SECOND);
        }
        poller.pollOnce();

        assertThat(status(store, id)).isEqualTo(Status.DONE);
        assertThat(attempts).containsOnly(1).hasSize(21);
    }

    @Test
    void anEndlessRetryAfterIsDeadPastTheMaximumAge() {
        String id = store.add(message("a")).get(0);
        Poller poller = poller(failing(new RetryAfterException(Duration.ofMinutes(30), "throttled")))
                .maxAge(Duration.ofHours(1))
                .build();

        for (int i = 0; i < 3; i++) {
            poller.pollOnce();
            assertThat(status(store, id)).isEqualTo(Status.READY);
            clock.advance(Duration.ofMinutes(30));
        }
        poller.pollOnce();

        assertThat(status(store, id)).isEqualTo(Status.DEAD);
        assertThat(state(store, id).lastError())
                .startsWith("older than the maximum age of PT1H")
                .contains("throttled");
    }

    static Stream<Throwable> whatABrokenDestinationThrows() {
        return Stream.of(
                new StackOverflowError(),
                new AssertionError("no"),
                new NoClassDefFoundError("x"),
                new InterruptedException(),
                new RuntimeException((String) null),
                new RuntimeException() {
                    private static final long serialVersionUID = 1L;

                    @Override
                    public String getMessage() {
                        throw new IllegalStateException("not even a message");
                    }
                });
    }

    @ParameterizedTest
    @MethodSource("whatABrokenDestinationThrows")
    void whateverADestinationThrowsIsAFailedAttempt(Throwable failure) {
        String id = store.add(message("a")).get(0);

        assertThat(poller(failing(failure)).build().pollOnce()).isOne();

        assertThat(status(store, id)).isEqualTo(Status.READY);
        assertThat(state(store, id).attempts()).isOne();
        assertThat(state(store, id).lastError()).contains(failure.getClass().getName());
    }

    @Test
    void outOfMemoryIsAFailedAttempt() {
        List<String> ids = store.add(unkeyed(3));

        poller(failing(new OutOfMemoryError("heap"))).build().pollOnce();

        assertThat(ids)
                .allSatisfy(id -> assertThat(state(store, id))
                        .isEqualTo(new ItemState(id, Status.READY, 1, "java.lang.OutOfMemoryError: heap")));
    }

    @Test
    void anItemThatKilledItsLastWorkerIsReportedDead() {
        String id = store.add(message("a")).get(0);
        store.source().claim(new ClaimRequest(1, SECOND, 1, Set.of(), "a worker that dies"));
        clock.advance(SECOND);

        poller(delivered::add)
                .retry(RetryPolicy.standard().maxAttempts(1))
                .build()
                .pollOnce();

        assertThat(status(store, id)).isEqualTo(Status.DEAD);
        assertThat(delivered).isEmpty();
        assertThat(events.of(OutboxEvent.Dead.class))
                .extracting(dead -> dead.item().id())
                .containsExactly(id);
    }

    @Test
    void aSettleThatFailsIsMadeUpForByTheNextCall() {
        String id = store.add(message("a")).get(0);
        WatchedSource source = new WatchedSource(store.source());
        Poller poller = Poller.from(source).to(delivered::add).build();
        source.beforeSettle = WatchedSource.DOWN;
        assertThatThrownBy(poller::pollOnce).isInstanceOf(OutboxException.class);

        source.up();
        assertThat(poller.pollOnce()).isZero();

        assertThat(status(store, id)).isEqualTo(Status.DONE);
        assertThat(delivered).hasSize(1);
    }
}
