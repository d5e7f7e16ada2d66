package dev.outbox.benchmarks;

import com.gruelbox.transactionoutbox.Submitter;
import com.gruelbox.transactionoutbox.TransactionManager;
import com.gruelbox.transactionoutbox.TransactionOutbox;
import java.sql.SQLException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Gruelbox transaction-outbox: after the commit, threads of the same JVM deliver what was stored. */
final class GruelboxCourier implements Courier {
    private static final int THREADS = 8;

    @Override
    public String name() {
        return Gruelbox.NAME;
    }

    @Override
    public String settings() {
        return Gruelbox.version() + ", submit in the same JVM, " + THREADS + " threads";
    }

    @Override
    public Line start(Database database, Arrivals arrivals) throws SQLException {
        ExecutorService executor = Executors.newFixedThreadPool(THREADS);
        TransactionManager transactions = TransactionManager.fromDataSource(database.pool(Relay.CONNECTIONS));
        TransactionOutbox outbox = Gruelbox.outbox(transactions, arrivals::arrived, Submitter.withExecutor(executor))
                .build();
        return new Line() {
            @Override
            public void commit(int number) throws SQLException {
                transactions.inTransactionThrows(tx -> {
                    Orders.insert(tx.connection(), number);
                    outbox.schedule(Gruelbox.Handler.class).handle(Payload.of(number));
                });
            }

            @Override
            public void stop() throws InterruptedException {
                executor.shutdown();
                executor.awaitTermination(1, TimeUnit.MINUTES);
            }
        };
    }
}
