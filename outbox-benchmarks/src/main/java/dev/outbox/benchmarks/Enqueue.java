package dev.outbox.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import javax.sql.DataSource;

/**
 * Stores messages without delivering them; each transaction also stores one business row. The clock runs from the start of
 * the threads to the last commit.
 *
 * @param perTransaction messages in each transaction
 * @param threads with one connection each
 */
record Enqueue(Writer writer, int transactions, int perTransaction, int threads) implements Contender {
    @Override
    public String name() {
        return writer.name();
    }

    @Override
    public String settings() {
        return String.format(
                Locale.ROOT,
                "%s; threads and connections %d, transactions %,d of 1 order and %d x %d bytes",
                writer.settings(),
                threads,
                transactions,
                perTransaction,
                Payload.BYTES);
    }

    @Override
    public Measurement run(Trial trial) throws Exception {
        Database database = trial.database();
        Orders.install(database);
        writer.install(database);
        DataSource pool = database.pool(threads);
        int each = Math.max(1, trial.scale().of(transactions) / threads);
        List<Writer.Session> sessions = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            sessions.add(writer.open(pool));
        }
        database.analyze();
        Measurement measurement = measure(trial, sessions, each);
        long effective = writer.effective((long) threads * each);
        check("orders", Orders.count(database), effective);
        check("messages", writer.stored(database), effective * perTransaction);
        return measurement;
    }

    private Measurement measure(Trial trial, List<Writer.Session> sessions, int each) throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            int first = i * each;
            Writer.Session session = sessions.get(i);
            loops.add(Loop.start(name(), () -> {
                go.await();
                for (int transaction = first; transaction < first + each; transaction++) {
                    session.commit(transaction * perTransaction, perTransaction);
                }
            }));
        }
        Meter meter = Meter.start(trial.server());
        go.countDown();
        for (Loop loop : loops) {
            loop.await();
        }
        meter.stopClock();
        return meter.read(threads * each * perTransaction);
    }

    private static void check(String what, long found, long expected) {
        if (found != expected) {
            throw new WrongResultException(found + " " + what + " are stored, expected " + expected);
        }
    }
}
