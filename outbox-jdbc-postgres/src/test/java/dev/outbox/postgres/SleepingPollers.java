package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Pollers that sleep for an hour once they find nothing, so that they were woken for whatever they deliver. */
final class SleepingPollers implements AutoCloseable {
    private static final Duration HOUR = Duration.ofHours(1);

    /** How long nothing must happen for a poller to count as not woken. */
    private static final Duration QUIET = Duration.ofMillis(200);

    private final OutboxDatabase database;
    private final List<Poller> pollers = new ArrayList<>();
    private final BlockingQueue<String> delivered = new LinkedBlockingQueue<>();

    SleepingPollers(OutboxDatabase database) {
        this.database = database;
    }

    Outbox start() {
        return start(PostgresOutbox.builder(database.pool()));
    }

    /** Returns once a poller has claimed and sleeps: from then on only a wake-up makes it claim. */
    Outbox start(PostgresOutbox.Builder builder) {
        Outbox started = builder.table(database.newTable()).build();
        started.transaction(database.pool(), tx -> started.enqueue(tx, message("started")));
        start(started.poller());
        assertDelivered("started");
        return started;
    }

    void start(PollerBuilder poller) {
        pollers.add(poller.to(item -> delivered.add(item.payload()))
                .idle(HOUR, HOUR)
                .start());
    }

    void wakeUp() {
        pollers.forEach(Poller::wakeUp);
    }

    static Message message(String payload) {
        return Message.to("orders.placed").payload(payload);
    }

    /** Stores a message of which no poller is told: only a wake-up that comes from elsewhere can bring it out. */
    void commitUnnoticed(Outbox outbox, String payload) {
        database.commit(outbox, message(payload));
    }

    void assertDelivered(String... payloads) {
        List<String> found = new ArrayList<>();
        while (found.size() < payloads.length) {
            try {
                String next = delivered.poll(2, TimeUnit.MINUTES);
                assertThat(next).as("delivery after %s", found).isNotNull();
                found.add(next);
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while waiting for a delivery", e);
            }
        }
        assertThat(found).containsExactlyInAnyOrder(payloads);
        await().pollInterval(Duration.ofMillis(5))
                .until(() -> pollers.stream().filter(Poller::isRunning).allMatch(SleepingPollers::isAsleep));
    }

    /** A poller claims once more after a claim that found something; wait until it sleeps. */
    static boolean isAsleep(Poller poller) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("outbox-" + poller.name() + "-claim"))
                .flatMap(thread -> Stream.of(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals("dev.outbox.delivery.Signal")
                        && frame.getMethodName().equals("await"));
    }

    void assertNothingIsDelivered() {
        await().during(QUIET).atMost(QUIET.multipliedBy(10)).until(delivered::isEmpty);
    }

    @Override
    public void close() {
        pollers.forEach(Poller::close);
    }
}
