package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.run;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.DestinationUnavailableException;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent.DestinationDown;
import dev.outbox.event.OutboxEvent.PollFailed;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.testkit.ForwardingSource;
import dev.outbox.testkit.InMemoryStore;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Where a test waits with an idle pause of an hour, only what it tests can have ended the pause. */
@Timeout(60)
@SuppressWarnings("try")
class IdleAndOutageTest {
    private static final Duration SOON = Duration.ofMillis(300);

    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final WatchedSource source = new WatchedSource(store.source());
    private final Events events = new Events();

    private PollerBuilder poller(Destination destination) {
        return Poller.from(source).to(destination).listener(events).idle(HOUR, HOUR);
    }

    private void awaitIdle() {
        await("it has looked for the next due time").until(() -> source.nextDueCalls.get() > 0);
    }

    @Test
    void wakeUpEndsALongIdlePause() {
        try (Poller poller = poller(item -> {}).start()) {
            awaitIdle();
            for (int i = 0; i < 5; i++) {
                String id = store.add(message("a")).get(0);
                poller.wakeUp();
                awaitStatus(store, id, Status.DONE);
            }
        }
    }

    @Test
    void aWakeUpDuringAPollIsNotLost() {
        AtomicInteger polls = new AtomicInteger();
        try (Poller poller = poller(item -> {}).build()) {
            // between the claim that finds nothing and the pause after it
            source.beforeNextDue = () -> {
                if (polls.getAndIncrement() == 0) {
                    store.add(message("a"));
                    poller.wakeUp();
                }
            };
            poller.start();
            Fixture.awaitAllDone(storeWithOneItem());
        }
    }

    private InMemoryStore storeWithOneItem() {
        await().until(() -> !store.items().isEmpty());
        return store;
    }

    @Test
    void aDelayedItemThatItIsWokenForIsNotSleptOver() {
        try (Poller poller = poller(item -> {}).start()) {
            await().until(() -> source.claimCalls.get() > 0);
            String id = store.add(message("a").dueIn(SOON)).get(0);
            poller.wakeUp();

            awaitStatus(store, id, Status.DONE);
        }
    }

    @Test
    void aRouteThatRecoversDuringALongIdlePauseIsClaimedFor() {
        AtomicBoolean down = new AtomicBoolean(true);
        TestTime time = new TestTime(); // no call is allowed until it passes
        Destination routes = Destination.byTopic()
                .route("t", item -> {
                    if (down.get()) {
                        throw new DestinationUnavailableException("down");
                    }
                })
                .route("other", item -> {});
        store.add(unkeyed(5));
        poller(routes).ticker(time::ticker).build().pollOnce();
        assertThat(events.count(DestinationDown.class)).isOne();
        down.set(false);
        store.add(unkeyed(20));
        int claims = source.claims.size();

        try (Poller poller = poller(routes).ticker(time::ticker).batchSize(1).start()) {
            await("it has claimed for the other route").until(() -> source.claims.size() > claims);
            time.passForPoller(SOON);
            awaitAllDone(store);
        }
    }

    @Test
    void aSourceThatAlwaysSaysThereIsMoreDoesNotKeepAnIdlePollerBusy() {
        WatchedSource vague = new WatchedSource(new ForwardingSource(source) {
            @Override
            public Claim claim(ClaimRequest request) {
                Claim claim = super.claim(request);
                return new Claim(claim.ownerToken(), claim.at(), claim.items(), claim.dead(), true);
            }
        });
        vague.afterClaim = () -> assertThat(vague.claimCalls).hasValueLessThan(10_000);
        String id = store.add(message("a")).get(0);

        assertThat(Poller.from(vague).to(item -> {}).build().pollOnce()).isOne();
        assertThat(Poller.from(vague).to(item -> {}).build().pollOnce()).isZero();
        try (Poller poller = Poller.from(vague).to(item -> {}).idle(HOUR, HOUR).start()) {
            await("it is idle").until(() -> vague.nextDueCalls.get() > 0);
        }

        assertThat(state(store, id).status()).isEqualTo(Status.DONE);
    }

    @Test
    void itSleepsNoLongerThanUntilTheNextItemIsDue() {
        String id = store.add(message("a").dueIn(SOON)).get(0);
        store.add(message("b").dueIn(HOUR));

        try (Poller poller = poller(item -> {}).start()) {
            awaitStatus(store, id, Status.DONE);
        }

        assertThat(source.claimCalls.get()).as("it slept rather than polled").isLessThan(20);
    }

    @Test
    void aRetryOfItsOwnIsNotSleptOver() {
        String keyed = store.add(message("a").key("k")).get(0);
        String free = store.add(message("b")).get(0);

        try (Poller poller = poller(item -> {
                    if (item.attempt() == 1) {
                        throw new IOException("down");
                    }
                })
                .retry(RetryPolicy.standard().baseDelay(SOON))
                .start()) {
            awaitStatus(store, keyed, Status.DONE);
            awaitStatus(store, free, Status.DONE);
        }
    }

    @Test
    void theFirstOfItsRetriesIsNotSleptOver() {
        String soon = store.add(message("soon")).get(0);
        store.add(message("late"));
        ForwardingSource silent = new ForwardingSource(source) {
            @Override
            public Optional<Duration> nextDue(Set<String> topics) {
                return Optional.empty();
            }
        };

        try (Poller poller = Poller.from(silent)
                .to(item -> {
                    if (item.payload().equals("late")) {
                        throw new RetryAfterException(HOUR, "much later");
                    }
                    if (item.attempt() == 1) {
                        throw new IOException("down");
                    }
                })
                .idle(HOUR, HOUR)
                .retry(RetryPolicy.standard().baseDelay(SOON))
                .start()) {
            awaitStatus(store, soon, Status.DONE);
        }
    }

    @Test
    void aBlockedKeyDoesNotMakeAnIdlePollerSpin() {
        String head = store.add(run("blocked", 1)).get(0);
        AtomicInteger deliveries = new AtomicInteger();

        try (Poller poller = poller(item -> {
                    deliveries.incrementAndGet();
                    throw new IOException("down");
                })
                .retry(new RetryPolicy(Duration.ofDays(1), Duration.ofDays(1), 10))
                .start()) {
            await().until(() ->
                    state(store, head).attempts() == 1 && state(store, head).status() == Status.READY);
            store.add(run("blocked", 2_000)); // all of them due, none of them claimable
            for (int i = 0; i < 3; i++) {
                int before = source.claimCalls.get();
                poller.wakeUp();
                await().until(() -> source.claimCalls.get() > before);
            }
            int calm = source.claimCalls.get() + 2; // a last wake-up may still be under way
            await().during(SOON).until(() -> source.claimCalls.get() <= calm);
        }

        assertThat(deliveries).hasValue(1);
    }

    @Test
    void aSourceThatSaysDueThoughNothingIsClaimableDoesNotMakeItSpin() {
        AtomicInteger claims = new AtomicInteger();
        ForwardingSource wrong = new ForwardingSource(source) {
            @Override
            public Optional<Duration> nextDue(Set<String> topics) {
                return Optional.of(Duration.ZERO);
            }
        };

        try (Poller poller = Poller.from(wrong)
                .to(item -> {})
                .idle(Duration.ofMillis(100), Duration.ofMillis(100))
                .start()) {
            await().until(() -> source.claimCalls.get() >= 2);
            claims.set(source.claimCalls.get());
            await().during(SOON).until(() -> source.claimCalls.get() - claims.get() <= 100);
        }
    }

    @Test
    void aDatabaseThatIsDownAtTheStartIsWaitedForWithGrowingPauses() {
        String id = store.add(message("a")).get(0);
        source.down();

        try (Poller poller = poller(item -> {}).name("p").start()) {
            await().until(() -> events.count(PollFailed.class) >= 4);
            List<PollFailed> failures = events.of(PollFailed.class);
            for (int i = 0; i < 4; i++) {
                assertThat(failures.get(i).poller()).isEqualTo("p");
                assertThat(failures.get(i).cause()).isInstanceOf(OutboxException.class);
                assertThat(failures.get(i).backoff())
                        .isBetween(Duration.ofMillis(50L << i), Duration.ofMillis(100L << i));
            }
            source.up();
            awaitStatus(store, id, Status.DONE);
        }
    }

    @Test
    void aDatabaseThatGoesDownLaterIsSurvivedAndThePausesStartAfresh() {
        try (Poller poller = poller(item -> {}).start()) {
            for (int outage = 0; outage < 2; outage++) {
                String before = store.add(message("before")).get(0);
                poller.wakeUp();
                awaitStatus(store, before, Status.DONE);

                int failures = events.count(PollFailed.class);
                source.down();
                poller.wakeUp();
                await().until(() -> events.count(PollFailed.class) > failures);
                assertThat(events.of(PollFailed.class).get(failures).backoff())
                        .isLessThanOrEqualTo(Duration.ofMillis(100));

                String during = store.add(message("during")).get(0);
                source.up();
                awaitStatus(store, during, Status.DONE);
            }
            assertThat(poller.isRunning()).isTrue();
        }
    }

    @Test
    void aNextDueThatFailsIsSurvived() {
        source.beforeNextDue = WatchedSource.DOWN;

        try (Poller poller = poller(item -> {}).start()) {
            awaitIdle();
            String id = store.add(message("a")).get(0);
            poller.wakeUp();
            awaitStatus(store, id, Status.DONE);
        }
    }
}
