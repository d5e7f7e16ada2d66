package dev.outbox.testkit.poller;

import dev.outbox.Status;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ItemState;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

/** Pollers of one store and of one destination that may be down, on time that a test moves. */
final class OutageScenario {
    static final Duration STEP = TestTime.STEP;
    static final Duration SECOND = Duration.ofSeconds(1);
    static final Duration MINUTE = Duration.ofMinutes(1);

    final TestTime time = new TestTime();
    final InMemoryStore store = new InMemoryStore(time.store);
    final Events events = new Events();

    PollerBuilder poller(Destination destination) {
        return Poller.from(store.source()).to(destination).ticker(time::ticker).listener(events);
    }

    List<Poller> pollers(int count, Destination destination) {
        return IntStream.range(0, count)
                .mapToObj(i -> poller(destination).build())
                .toList();
    }

    /** Has all of them poll, again and again, while time passes. */
    void pollFor(Duration span, List<Poller> pollers) {
        time.pollFor(span, pollers, () -> {});
    }

    List<ItemState> with(Status status) {
        return store.items().stream().filter(item -> item.status() == status).toList();
    }
}
