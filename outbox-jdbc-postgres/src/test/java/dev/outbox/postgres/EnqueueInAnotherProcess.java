package dev.outbox.postgres;

import dev.outbox.Message;
import dev.outbox.Outbox;
import org.postgresql.ds.PGSimpleDataSource;

/** Enqueues one message and commits, then waits to be ended: {@code <jdbc url> <payload>}. */
final class EnqueueInAnotherProcess {
    private EnqueueInAnotherProcess() {}

    public static void main(String[] arguments) throws Exception {
        Outbox outbox = PostgresOutbox.builder(dataSource(arguments[0]))
                .notify(dataSource(arguments[0]))
                .build();
        outbox.transaction(
                dataSource(arguments[0]),
                tx -> outbox.enqueue(tx, Message.to("orders.placed").payload(arguments[1])));
        while (System.in.read() >= 0) {
            continue;
        }
    }

    private static PGSimpleDataSource dataSource(String url) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        return dataSource;
    }
}
