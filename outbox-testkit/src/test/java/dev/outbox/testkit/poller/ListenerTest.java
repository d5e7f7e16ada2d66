package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitAllDone;
import static dev.outbox.testkit.poller.Fixture.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.ForwardingSource;
import dev.outbox.testkit.InMemoryStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The other kinds of events are looked at where what they tell of is tested. */
@Timeout(60)
@SuppressWarnings("try")
class ListenerTest {
    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());
    private final Events events = new Events();

    @Test
    void aClaimAndADeliveryAreToldWithTheNameOfThePoller() {
        List<String> ids = store.add(message("a"), message("b"));

        Poller.from(store.source())
                .to(item -> {})
                .name("p")
                .listener(events)
                .build()
                .pollOnce();

        assertThat(events.of(OutboxEvent.Claimed.class)).singleElement().satisfies(claimed -> {
            assertThat(claimed.poller()).isEqualTo("p");
            assertThat(claimed.items()).extracting(WorkItem::id).isEqualTo(ids);
            assertThat(claimed.took()).isGreaterThanOrEqualTo(Duration.ZERO);
        });
        assertThat(events.of(OutboxEvent.Done.class)).hasSize(2).allSatisfy(done -> {
            assertThat(done.poller()).isEqualTo("p");
            assertThat(done.delivery()).isGreaterThanOrEqualTo(Duration.ZERO);
        });
    }

    @Test
    void aPollThatFindsNothingTellsOnlyThat() {
        Poller.from(store.source()).to(item -> {}).listener(events).build().pollOnce();

        assertThat(events.of(OutboxEvent.class))
                .singleElement()
                .isInstanceOfSatisfying(OutboxEvent.Polled.class, polled -> {
                    assertThat(polled.items()).isZero();
                    assertThat(polled.took()).isGreaterThanOrEqualTo(Duration.ZERO);
                });
    }

    @Test
    void aListenerThatFailsIsLoggedAndOtherwiseIgnored() {
        store.add(message("a"));

        try (CapturedLog log = new CapturedLog()) {
            try (Poller poller = Poller.from(store.source())
                    .to(item -> {})
                    .listener(event -> {
                        throw new IllegalStateException("listener is broken");
                    })
                    .listener(events)
                    .start()) {
                awaitAllDone(store);
                store.add(message("b"));
                poller.wakeUp();
                awaitAllDone(store);
            }
            assertThat(log.warnings()).anyMatch(line -> line.contains("a listener failed on Done"));
        }

        assertThat(events.count(OutboxEvent.Done.class))
                .as("the other listener")
                .isEqualTo(2);
    }

    @Test
    void whatRetentionRemovesIsToldUntilNothingIsLeft() {
        AtomicInteger left = new AtomicInteger(3);
        AtomicInteger calls = new AtomicInteger();
        ForwardingSource source = new ForwardingSource(store.source()) {
            @Override
            public int purge() {
                calls.incrementAndGet();
                return left.getAndUpdate(n -> Math.max(0, n - 1)) > 0 ? 10 : 0;
            }
        };

        try (Poller poller = Poller.from(source)
                .to(item -> {})
                .listener(events)
                .purgeEvery(Duration.ofMillis(10))
                .start()) {
            await().until(() -> calls.get() > 5);
        }

        assertThat(events.of(OutboxEvent.Purged.class))
                .extracting(OutboxEvent.Purged::count)
                .containsExactly(10, 10, 10);
    }

    /** A run goes on while there is much to remove, and ends when little is left, however soon there is more. */
    @Test
    void aPurgeRunEndsThoughThereIsAlwaysALittle() {
        int much = 50;
        Duration purgeEvery = Duration.ofMillis(500);
        AtomicInteger calls = new AtomicInteger();
        ForwardingSource source = new ForwardingSource(store.source()) {
            @Override
            public int purge() {
                return calls.incrementAndGet() <= much ? 100 : 99;
            }
        };
        long start = System.nanoTime();

        try (Poller poller =
                Poller.from(source).to(item -> {}).purgeEvery(purgeEvery).start()) {
            await().until(() -> calls.get() > much + 1);
        }

        long runs = 1 + (System.nanoTime() - start) / purgeEvery.toNanos();
        assertThat(calls.get()).isLessThanOrEqualTo((int) (much + 1 + runs));
    }

    /** By the poller's clock a batch takes an hour, so that each rest is as long as any: ten seconds. */
    @Test
    void aPurgeRestsAfterEachBatchAndACloseEndsTheRest() {
        AtomicLong now = new AtomicLong();
        AtomicInteger calls = new AtomicInteger();
        ForwardingSource source = new ForwardingSource(store.source()) {
            @Override
            public int purge() {
                now.addAndGet(Duration.ofHours(1).toNanos());
                calls.incrementAndGet();
                return 1_000;
            }
        };
        long start = System.nanoTime();

        try (Poller poller = Poller.from(source)
                .to(item -> {})
                .ticker(now::get)
                .purgeEvery(Duration.ofMillis(10))
                .start()) {
            await().until(() -> calls.get() > 0);
        }

        long rests = (System.nanoTime() - start) / Duration.ofMillis(9_900).toNanos();
        assertThat(calls.get()).isLessThanOrEqualTo((int) (1 + rests));
    }

    @Test
    void aPurgeThatFailsIsToldAndTriedAgain() {
        AtomicInteger calls = new AtomicInteger();
        ForwardingSource source = new ForwardingSource(store.source()) {
            @Override
            public int purge() {
                if (calls.getAndIncrement() == 0) {
                    throw new OutboxException("the database is down");
                }
                return 0;
            }
        };

        try (Poller poller = Poller.from(source)
                .to(item -> {})
                .listener(events)
                .purgeEvery(Duration.ofMillis(10))
                .start()) {
            await().until(() -> calls.get() > 1);
        }

        assertThat(events.of(OutboxEvent.PollFailed.class))
                .singleElement()
                .satisfies(failed -> assertThat(failed.cause()).hasMessage("the database is down"));
    }
}
