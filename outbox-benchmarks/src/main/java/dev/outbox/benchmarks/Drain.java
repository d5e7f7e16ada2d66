package dev.outbox.benchmarks;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.sql.DataSource;

/**
 * Delivers a backlog as fast as possible. The clock runs from the moment the nodes are started, or the part that is not
 * measured has passed, to the last delivery; CPU and log also count what settling costs after it.
 *
 * @param underSnapshot whether a transaction stays open all the time and keeps vacuum from removing anything
 */
record Drain(Relay relay, Backlog backlog, int nodes, boolean underSnapshot) implements Contender {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    Drain(Relay relay, Backlog backlog) {
        this(relay, backlog, 1, false);
    }

    @Override
    public String name() {
        return relay.name();
    }

    @Override
    public String settings() {
        Backlog fitting = relay.fitting(backlog);
        return String.format(
                Locale.ROOT,
                "%s; nodes %d, connections each %d, messages %,d of %d bytes, keys %,d",
                relay.settings(),
                nodes,
                Relay.CONNECTIONS,
                fitting.measured(),
                Payload.BYTES,
                fitting.keys());
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        Backlog scaled = relay.fitting(backlog).at(trial.scale());
        relay.store(database, scaled);
        database.analyze();
        trial.server().writeBack();
        try (Connection snapshot = database.direct().getConnection()) {
            if (underSnapshot) {
                hold(snapshot);
            }
            return deliver(trial, scaled);
        }
    }

    private Measurement deliver(Trial trial, Backlog scaled) throws Exception {
        Database database = trial.database();
        Deliveries deliveries = new Deliveries(scaled);
        List<DataSource> pools = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            pools.add(database.pool(Relay.CONNECTIONS));
        }
        List<Running> running = new ArrayList<>();
        Meter meter = Meter.start(trial.server());
        try {
            for (DataSource pool : pools) {
                running.add(relay.start(pool, deliveries));
            }
            if (scaled.passed() > 0) {
                deliveries.awaitPassed(PATIENCE);
                meter = Meter.start(trial.server());
            }
            deliveries.awaitAll(PATIENCE);
            meter.stopClock();
        } finally {
            for (Running node : running) {
                node.stop();
            }
        }
        Measurement measurement = meter.read(scaled.measured());
        deliveries.check();
        long unfinished = relay.unfinished(database);
        if (unfinished != scaled.held()) {
            throw new WrongResultException(
                    unfinished + " rows are unfinished after everything was delivered, expected " + scaled.held());
        }
        return measurement;
    }

    private static void hold(Connection snapshot) throws SQLException {
        snapshot.setAutoCommit(false);
        snapshot.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = snapshot.createStatement()) {
            statement.execute("SELECT count(*) FROM pg_class");
        }
    }
}
