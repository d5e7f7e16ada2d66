package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import java.net.ConnectException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What happens while a destination is down. */
class OutageIT {
    private static final int POLLERS = 4;
    private static final Duration OUTAGE = Duration.ofSeconds(Boolean.getBoolean("outbox.full") ? 60 : 3);

    private final OutboxDatabase database = new OutboxDatabase();
    private final String table = database.newTable();
    private final List<Poller> pollers = new ArrayList<>();

    @AfterEach
    void close() {
        pollers.forEach(Poller::close);
        database.close();
    }

    /** A broker that can be down; it counts its calls, and takes its time to fail. */
    private static final class Broker implements Destination {
        private final Set<String> received = ConcurrentHashMap.newKeySet();
        private final AtomicInteger callsWhileDown = new AtomicInteger();
        private final CountDownLatch never = new CountDownLatch(1);
        private final Duration slowness;
        private final boolean refuses;
        private volatile boolean down;

        /** @param refuses whether it refuses connections while it is down, rather than fail somehow */
        private Broker(Duration slowness, boolean refuses) {
            this.slowness = slowness;
            this.refuses = refuses;
        }

        void up() {
            down = false;
            never.countDown();
        }

        @Override
        public void deliver(WorkItem item) throws Exception {
            if (down) {
                callsWhileDown.incrementAndGet();
                never.await(slowness.toMillis(), TimeUnit.MILLISECONDS);
                throw refuses ? new ConnectException("refused") : new IllegalStateException("the broker is down");
            }
            received.add(item.messageId());
        }
    }

    private void start(Outbox outbox, Destination destination) {
        for (int i = 0; i < POLLERS; i++) {
            pollers.add(outbox.poller()
                    .to(destination)
                    .retry(RetryPolicy.standard().maxAttempts(2))
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

    @ParameterizedTest(name = "a call fails after {0}, recognised: {1}")
    @CsvSource({"PT0S, true", "PT0S, false", "PT0.3S, true", "PT0.3S, false", "PT1.5S, true"})
    void anOutageUnderLoadKillsNothingAndCallsAreFew(Duration slowness, boolean recognised) {
        ConcurrentLinkedQueue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .listener(event -> {
                    if (event instanceof OutboxEvent.DestinationDown || event instanceof OutboxEvent.DestinationUp) {
                        events.add(event);
                    }
                })
                .build();
        Broker broker = new Broker(slowness, recognised);
        start(outbox, broker);
        AtomicInteger enqueued = new AtomicInteger();
        Callable<Boolean> load = () -> {
            enqueued.addAndGet(database.commit(outbox, messages("orders", 100)).size());
            return database.count(table, "status = 3") == 0;
        };
        await().pollInterval(Duration.ofMillis(50)).until(() -> load.call() && broker.received.size() > 500);

        broker.down = true;
        await().pollInterval(Duration.ofMillis(200))
                .during(OUTAGE)
                .atMost(OUTAGE.multipliedBy(3))
                .until(load);

        // until it is noticed, what else was under way then, and one per pause however many pollers there are
        int noticed = recognised ? 5 : 300;
        int underWay = POLLERS * 4;
        int pauses = 7 + (int) OUTAGE.toSeconds() / 3;
        assertThat(broker.callsWhileDown.get()).isBetween(6, noticed + underWay + pauses);
        if (recognised) {
            assertThat(database.count(table, "status = 0 AND attempt_count > 0"))
                    .as("items that paid for the outage")
                    .isZero();
        }

        int before = broker.received.size();
        broker.up();

        await("full speed").atMost(Duration.ofSeconds(15)).until(() -> broker.received.size() > before + 1_000);
        int expected = enqueued.get();
        await().atMost(Duration.ofMinutes(2)).until(() -> broker.received.size() == expected);
        await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, (long) expected)));
        long slowed = events.stream()
                .filter(OutboxEvent.DestinationDown.class::isInstance)
                .count();
        assertThat(slowed).isLessThanOrEqualTo(1);
        await().untilAsserted(() -> assertThat(events)
                .filteredOn(OutboxEvent.DestinationUp.class::isInstance)
                .hasSize((int) slowed));
    }

    @ParameterizedTest(name = "a call fails after {0}")
    @ValueSource(strings = {"PT0S", "PT1H"})
    void oneRouteThatIsDownOrHangsDoesNotHoldUpTheOthers(Duration slowness) {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        Broker good = new Broker(Duration.ZERO, false);
        Broker bad = new Broker(slowness, false);
        bad.down = true;
        start(outbox, Destination.byTopic().route("good", good).route("bad", bad));

        database.commit(outbox, messages("bad", 500));
        await().until(() -> bad.callsWhileDown.get() >= 5);
        database.commit(outbox, messages("good", 500));

        await().atMost(Duration.ofMinutes(2)).until(() -> good.received.size() == 500);
        assertThat(bad.received).as("it is down all the while").isEmpty();
        assertThat(database.count(table, "status = 3")).isZero();
        bad.up();
        await().atMost(Duration.ofMinutes(2)).until(() -> bad.received.size() == 500);
        await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, 1_000L)));
    }
}
