package dev.outbox.benchmarks;

import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import java.time.Duration;
import java.util.Locale;

/**
 * A poller with default options that has nothing to deliver. The server counts its transactions. Counting starts when the
 * idle pauses have grown to their full length.
 *
 * @param backlog rows that are not due
 */
record Idle(Backlog backlog) implements Contender {
    private static final Duration SETTLING = Duration.ofSeconds(5);

    /** The server reports a transaction up to about a second late, so that a short window would be inexact. */
    private static final Duration WINDOW = Duration.ofSeconds(20);

    @Override
    public String name() {
        return "ours-idle";
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "one poller with default options, connections %d, counted for %d s after the first %d s, keys that wait %,d",
                Relay.CONNECTIONS,
                WINDOW.toSeconds(),
                SETTLING.toSeconds(),
                backlog.held());
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        Server server = trial.server();
        Backlog scaled = backlog.at(trial.scale());
        OutboxTable.install(database);
        OutboxTable.fill(database, scaled);
        database.analyze();
        server.writeBack();
        Measurement measurement;
        try (Poller poller = PostgresOutbox.create(database.pool(Relay.CONNECTIONS))
                .poller()
                .to(item -> {})
                .start()) {
            sleep(SETTLING, trial.scale());
            Meter meter = Meter.start(server);
            long before = server.transactions();
            sleep(WINDOW, trial.scale());
            meter.stopClock();
            measurement = meter.readIdle(server.transactions() - before);
            if (!poller.isRunning()) {
                throw new WrongResultException("the poller has stopped");
            }
        }
        long unfinished = OutboxTable.unfinished(database);
        if (unfinished != scaled.held()) {
            throw new WrongResultException(unfinished + " rows are unfinished, expected " + scaled.held());
        }
        return measurement;
    }

    private static void sleep(Duration full, Scale scale) throws InterruptedException {
        Thread.sleep(scale.of((int) full.toMillis()));
    }
}
