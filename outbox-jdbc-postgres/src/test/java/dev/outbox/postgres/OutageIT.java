package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.BreakerPolicy;
import dev.outbox.Destination;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Poller;
import dev.outbox.RetryPolicy;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What happens while a destination is down. */
class OutageIT {
    private static final int POLLERS = 4;
    private static final boolean FULL = Boolean.getBoolean("outbox.full");

    private final OutboxDatabase database = new OutboxDatabase();
    private final String table = database.newTable();
    private final List<Poller> pollers = new ArrayList<>();

    @AfterEach
    void close() {
        pollers.forEach(Poller::close);
        database.close();
    }

    /** A broker that can be down; it counts its calls. */
    private static final class Broker implements Destination {
        private final Set<String> received = ConcurrentHashMap.newKeySet();
        private final AtomicInteger calls = new AtomicInteger();
        private volatile boolean down;

        @Override
        public void deliver(WorkItem item) {
            calls.incrementAndGet();
            if (down) {
                throw new IllegalStateException("the broker is down");
            }
            received.add(item.messageId());
        }
    }

    private void start(Outbox outbox, Destination destination) {
        for (int i = 0; i < POLLERS; i++) {
            pollers.add(outbox.poller()
                    .to(destination)
                    .retry(RetryPolicy.standard().maxAttempts(2))
                    .breaker(new BreakerPolicy(5, Duration.ofMillis(200), Duration.ofSeconds(2)))
                    .batchSize(50)
                    .start());
        }
    }

    private static List<Message> messages(String topic, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> Message.to(topic)
                        .key(i % 3 == 0 ? null : topic + i % 100)
                        .payload("{}"))
                .toList();
    }

    @Test
    void anOutageUnderLoadBurnsNoAttemptsAndCallsAreFew() {
        ConcurrentLinkedQueue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .listener(event -> {
                    if (event instanceof OutboxEvent.DestinationDown || event instanceof OutboxEvent.DestinationUp) {
                        events.add(event);
                    }
                })
                .build();
        Broker broker = new Broker();
        broker.down = true;
        start(outbox, broker);
        Duration outage = Duration.ofSeconds(FULL ? 60 : 6);
        AtomicInteger enqueued = new AtomicInteger();
        await().pollInterval(Duration.ofMillis(500))
                .during(outage)
                .atMost(outage.multipliedBy(3))
                .until(() -> {
                    enqueued.addAndGet(
                            database.commit(outbox, messages("orders", 100)).size());
                    return database.count(table, "attempt_count > 1 OR status = 3") == 0;
                });

        // what was under way when the breakers opened, and one probe per pause and poller
        int probes = 4 + (int) outage.toSeconds();
        assertThat(events)
                .filteredOn(OutboxEvent.DestinationDown.class::isInstance)
                .hasSize(POLLERS);
        assertThat(broker.calls).hasValueLessThan(POLLERS * (5 + 4 + probes));

        broker.down = false;

        int expected = enqueued.get();
        await().atMost(Duration.ofSeconds(60)).until(() -> broker.received.size() == expected);
        await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, (long) expected)));
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
        await().untilAsserted(() -> assertThat(events)
                .filteredOn(OutboxEvent.DestinationUp.class::isInstance)
                .isNotEmpty());
    }

    @Test
    void oneRouteThatIsDownDoesNotHoldUpTheOthers() {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        Broker good = new Broker();
        Broker bad = new Broker();
        bad.down = true;
        start(outbox, Destination.byTopic().route("good", good).route("bad", bad));

        database.commit(outbox, messages("bad", 500));
        await().until(() -> bad.calls.get() >= 5);
        database.commit(outbox, messages("good", 500));

        await().atMost(Duration.ofSeconds(30)).until(() -> good.received.size() == 500);
        assertThat(bad.received).isEmpty();
        assertThat(database.count(table, "topic = 'bad' AND (attempt_count > 1 OR status = 3)"))
                .isZero();
        bad.down = false;
        await().atMost(Duration.ofSeconds(60)).until(() -> bad.received.size() == 500);
        await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, 1_000L)));
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
    }
}
