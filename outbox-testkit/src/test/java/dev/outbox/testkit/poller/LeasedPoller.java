package dev.outbox.testkit.poller;

import static dev.outbox.testkit.poller.Fixture.HOUR;
import static dev.outbox.testkit.poller.Fixture.await;

import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Source;
import dev.outbox.testkit.InMemoryStore;
import java.time.Duration;

/** A poller with a short lease, which claims once, and a rival that claims what it loses. */
final class LeasedPoller {
    static final Duration LEASE = Duration.ofMillis(60);
    static final Duration THIRD = LEASE.dividedBy(3);

    final TestTime time = new TestTime();
    final InMemoryStore store = new InMemoryStore(time.store);
    final WatchedSource source = new WatchedSource(store.source());
    final Source rival = store.source();
    final Events events = new Events();
    final Gate gate = new Gate();

    PollerBuilder poller(Destination destination) {
        return Poller.from(source)
                .to(destination)
                .listener(events)
                .concurrency(1)
                .lease(LEASE)
                .idle(HOUR, HOUR) // it claims once, so what it loses goes to the rival
                .drainTimeout(Duration.ZERO)
                .ticker(time::ticker);
    }

    /** A third of the lease goes by and the poller renews. */
    void passAThird() {
        int before = events.count(OutboxEvent.Renewed.class);
        time.pass(THIRD);
        await("a renewal").until(() -> events.count(OutboxEvent.Renewed.class) > before);
    }
}
