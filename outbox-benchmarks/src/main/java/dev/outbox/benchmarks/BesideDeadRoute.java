package dev.outbox.benchmarks;

import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Delivers a backlog by one route while another one, which has a tenth as many messages in front, accepts nothing; or
 * accepts everything. The clock runs from the start of the poller to the last delivery by the first route.
 */
record BesideDeadRoute(boolean isDead, Backlog backlog) implements Contender {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private static final String OTHERS = """
            INSERT INTO outbox (work_item_id, topic, payload)
            SELECT gen_random_uuid(), 'other', %s FROM generate_series(0, %d) n
            """;

    @Override
    public String name() {
        return isDead ? "ours-troubled" : "ours-healthy";
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "a route that %s has %,d messages in front; one poller with default options, connections %d, messages %,d",
                isDead ? "accepts nothing" : "accepts everything",
                backlog.messages() / 10,
                Relay.CONNECTIONS,
                backlog.messages());
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        Backlog scaled = backlog.at(trial.scale());
        int others = scaled.messages() / 10;
        OutboxTable.install(database);
        database.execute(OTHERS.formatted(Payload.SQL, others - 1));
        OutboxTable.fill(database, scaled);
        database.analyze();
        trial.server().writeBack();
        Deliveries deliveries = new Deliveries(scaled);
        AtomicInteger refused = new AtomicInteger();
        Destination other = item -> {
            if (isDead) {
                refused.incrementAndGet();
                throw new IllegalStateException("down");
            }
        };
        Destination routes = Destination.byTopic()
                .route("bench", item -> deliveries.arrive(item.payload()))
                .route("other", other);
        Meter meter = Meter.start(trial.server());
        try (Poller poller = PostgresOutbox.create(database.pool(Relay.CONNECTIONS))
                .poller()
                .to(routes)
                .start()) {
            deliveries.awaitAll(PATIENCE);
            meter.stopClock();
            if (!poller.isRunning()) {
                throw new WrongResultException("the poller has stopped");
            }
        }
        deliveries.check();
        if (isDead && refused.get() == 0) {
            throw new WrongResultException("nothing was refused");
        }
        return meter.read(scaled.messages());
    }
}
