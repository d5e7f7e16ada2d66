package dev.outbox.benchmarks;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.postgres.PostgresOutbox;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

/**
 * Delivers a backlog to a destination in trouble, or the same backlog without the trouble. The clock runs from the start of
 * the poller to the delivery of the last message that the trouble does not concern; both count the same messages.
 *
 * @param happens whether there is trouble at all
 * @param inBatches whether the destination is called for many messages at once and answers for each
 */
record TroubledDrain(Trouble trouble, boolean happens, boolean inBatches, Backlog backlog) implements Contender {
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @Override
    public String name() {
        return happens ? "ours-troubled" : "ours-healthy";
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "%s; one poller with default options and %s, %s, connections %d, messages %,d of %d bytes, keys %,d",
                happens ? trouble.description() : "nothing fails",
                trouble.retry(),
                inBatches ? "toBatch(...)" : "to(...)",
                Relay.CONNECTIONS,
                backlog.messages(),
                Payload.BYTES,
                backlog.keys());
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        Backlog scaled = backlog.at(trial.scale());
        OutboxTable.install(database);
        OutboxTable.fill(database, scaled);
        database.analyze();
        trial.server().writeBack();
        Receiving receiving = new Receiving(scaled);
        PollerBuilder builder =
                PostgresOutbox.create(database.pool(Relay.CONNECTIONS)).poller().retry(trouble.retry());
        if (inBatches) {
            builder.toBatch(receiving::deliverAll);
        } else {
            builder.to(receiving::deliver);
        }
        Meter meter = Meter.start(trial.server());
        Poller poller = builder.start();
        try {
            receiving.awaitGood();
            meter.stopClock();
            if (!happens) {
                receiving.deliveries.awaitAll(PATIENCE);
            }
        } finally {
            poller.close();
        }
        Measurement measurement = meter.read(receiving.good);
        check(receiving, database);
        return measurement;
    }

    private void check(Receiving receiving, Database database) throws Exception {
        int held = happens ? receiving.deliveries.messages() - receiving.good : 0;
        receiving.deliveries.check(held);
        long dead = database.count("SELECT count(*) FROM outbox WHERE status = 3");
        long unfinished = OutboxTable.unfinished(database);
        if (dead > 0 || unfinished != held) {
            throw new WrongResultException(
                    dead + " messages are Dead, expected none; " + unfinished + " are unfinished, expected " + held);
        }
        if (happens && receiving.failures.get() == 0) {
            throw new WrongResultException("nothing failed");
        }
    }

    /** The destination. Thread-safe. */
    private final class Receiving {
        private final Backlog scaled;
        private final Deliveries deliveries;
        private final int good;
        private final CountDownLatch missing;
        private final AtomicIntegerArray calls;
        private final AtomicInteger failures = new AtomicInteger();

        Receiving(Backlog scaled) {
            this.scaled = scaled;
            this.deliveries = new Deliveries(scaled);
            this.good = (int) IntStream.range(0, scaled.messages())
                    .filter(number -> trouble.isGood(number, scaled))
                    .count();
            this.missing = new CountDownLatch(good);
            this.calls = new AtomicIntegerArray(scaled.messages());
        }

        void deliver(WorkItem item) {
            int number = Payload.number(item.payload());
            if (happens && trouble.fails(number, calls.getAndIncrement(number), scaled)) {
                failures.incrementAndGet();
                throw new IllegalStateException("message " + number + " is refused");
            }
            deliveries.arrive(item.payload());
            if (trouble.isGood(number, scaled)) {
                missing.countDown();
            }
        }

        List<Outcome> deliverAll(List<WorkItem> items) {
            return items.stream().map(this::outcome).toList();
        }

        private Outcome outcome(WorkItem item) {
            try {
                deliver(item);
                return Outcome.done();
            } catch (IllegalStateException e) {
                return Outcome.retry(e);
            }
        }

        void awaitGood() throws InterruptedException {
            if (!missing.await(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new WrongResultException(missing.getCount() + " of " + good
                        + " messages that do not fail were not delivered in " + PATIENCE.toSeconds() + " s");
            }
        }
    }
}
