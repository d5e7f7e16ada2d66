package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.await;
import static dev.outbox.testkit.poller.Fixture.awaitStatus;
import static dev.outbox.testkit.poller.Fixture.message;
import static dev.outbox.testkit.poller.Fixture.state;
import static dev.outbox.testkit.poller.Fixture.unkeyed;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.ForwardingSource;
import dev.outbox.testkit.InMemoryStore;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Errors that end a thread elsewhere end no thread of a poller. */
@Timeout(60)
class SurvivedErrorsTest {
    private final InMemoryStore store = new InMemoryStore(Clock.systemUTC());

    private PollerBuilder poller(String name, Destination destination) {
        return Poller.from(store.source()).to(destination).name(name);
    }

    @Test
    void anErrorInADestinationIsAFailedAttemptAndThePollerGoesOn() {
        String bad = store.add(message("bad")).get(0);
        Events events = new Events();
        try (Poller poller = poller("oom", item -> {
                    if (item.payload().equals("bad")) {
                        throw new OutOfMemoryError("heap");
                    }
                })
                .listener(events)
                .start()) {
            await().until(() -> state(store, bad).lastError() != null);
            String good = store.add(message("good")).get(0);
            poller.wakeUp();
            awaitStatus(store, good, Status.DONE);

            assertThat(poller.isRunning()).isTrue();
            assertThat(state(store, bad).attempts()).isPositive();
            assertThat(events.of(OutboxEvent.ErrorSurvived.class))
                    .first()
                    .satisfies(event -> assertThat(event.where()).isEqualTo("destination"));
        }
    }

    @Test
    void anErrorInAThreadOfThePollerIsReportedAndTheThreadGoesOn() {
        List<String> where = new CopyOnWriteArrayList<>();
        AtomicReference<Heartbeat> heartbeat = new AtomicReference<>();
        Map<String, AtomicBoolean> failing = new ConcurrentHashMap<>();
        List.of("claim", "settle", "renew", "purge").forEach(part -> failing.put(part, new AtomicBoolean(true)));
        ForwardingSource source = new ForwardingSource(store.source()) {
            private void failOnce(String part) {
                if (failing.get(part).compareAndSet(true, false)) {
                    throw new OutOfMemoryError("heap");
                }
            }

            @Override
            public Claim claim(ClaimRequest request) {
                failOnce("claim");
                return super.claim(request);
            }

            @Override
            public Unchanged settle(List<Settlement> settlements) {
                failOnce("settle");
                return super.settle(settlements);
            }

            @Override
            public Unchanged renew(List<Lease> leases, Duration length) {
                failOnce("renew");
                return super.renew(leases, length);
            }

            @Override
            public int purge() {
                failOnce("purge");
                return super.purge();
            }

            @Override
            public void heartbeat(Heartbeat beat) {
                heartbeat.set(beat);
            }
        };
        store.add(unkeyed(3));
        try (Poller poller = Poller.from(source)
                .to(item -> await().until(() -> !failing.get("renew").get()))
                .listener(event -> {
                    if (event instanceof OutboxEvent.ErrorSurvived survived) {
                        where.add(survived.where());
                    }
                })
                .lease(Duration.ofMillis(300))
                .purgeEvery(Duration.ofMillis(10))
                .name("survivor")
                .start()) {
            Fixture.awaitAllDone(store);
            await().until(() -> where.containsAll(failing.keySet()));
            await().until(() -> heartbeat.get() != null && heartbeat.get().lastError() != null);

            assertThat(poller.isRunning()).isTrue();
            assertThat(heartbeat.get().lastError()).isEqualTo("java.lang.OutOfMemoryError: heap");
            assertThat(heartbeat.get().sinceError()).isNotNull();
            assertThat(heartbeat.get().last()).isFalse();
        }
        assertThat(heartbeat.get().last()).isTrue();
    }

    @Test
    void aStackOverflowDoesNotStopThePoller() {
        String bad = store.add(message("bad")).get(0);
        try (Poller poller = poller("overflow", item -> {
                    if (item.payload().equals("bad")) {
                        throw new StackOverflowError();
                    }
                })
                .start()) {
            await().until(() -> state(store, bad).lastError() != null);
            String good = store.add(message("good")).get(0);
            poller.wakeUp();
            awaitStatus(store, good, Status.DONE);
            assertThat(poller.isRunning()).isTrue();
        }
    }
}
