package dev.outbox.benchmarks;

import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.sql.SQLException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Gruelbox transaction-outbox: one thread flushes all the time, eight threads process what it found. */
final class GruelboxRelay implements Relay {
    private static final int MESSAGES = 30_000;
    private static final int THREADS = 8;
    private static final int FLUSH = 4_096;
    private static final int STORED_AT_ONCE = 1_000;

    /** A stored message is due for a flush only two minutes later; the benchmark does not wait for that. */
    private static final String DUE = "UPDATE txno_outbox SET nextattempttime = nextattempttime - interval '1 day'";

    @Override
    public String name() {
        return Gruelbox.NAME;
    }

    @Override
    public String settings() {
        return Gruelbox.version() + ", flush batch size " + FLUSH + ", " + THREADS + " threads, unbounded queue";
    }

    @Override
    public Backlog fitting(Backlog backlog) {
        if (!backlog.isPlain()) {
            throw new IllegalArgumentException(name() + " takes plain messages only, was " + backlog);
        }
        return Backlog.of(Math.min(MESSAGES, backlog.messages()));
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        TransactionManager transactions = TransactionManager.fromDataSource(database.pool(1));
        TransactionOutbox outbox =
                Gruelbox.outbox(transactions, Gruelbox.NOBODY, Gruelbox.NEVER).build();
        for (int first = 0; first < backlog.messages(); first += STORED_AT_ONCE) {
            int from = first;
            int to = Math.min(backlog.messages(), first + STORED_AT_ONCE);
            transactions.inTransaction(() -> {
                for (int number = from; number < to; number++) {
                    outbox.schedule(Gruelbox.Handler.class).handle(Payload.of(number));
                }
            });
        }
        database.execute(DUE);
        database.execute("VACUUM FULL txno_outbox");
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        TransactionOutbox outbox = Gruelbox.outbox(
                        TransactionManager.fromDataSource(pool), deliveries::arrive, Submitter.withExecutor(threads))
                .flushBatchSize(FLUSH)
                .build();
        Loop flush = Loop.start("gruelbox flush", () -> {
            while (!deliveries.areComplete()) {
                if (!outbox.flush()) {
                    LockSupport.parkNanos(1_000_000);
                }
            }
        });
        return () -> {
            flush.await();
            threads.shutdown();
            threads.awaitTermination(1, TimeUnit.MINUTES);
        };
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return Gruelbox.unfinished(database);
    }
}
