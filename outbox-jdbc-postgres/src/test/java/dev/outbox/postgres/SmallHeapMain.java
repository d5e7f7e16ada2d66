package dev.outbox.postgres;

import dev.outbox.Poller;
import java.io.IOException;
import org.postgresql.ds.PGSimpleDataSource;

/** A poller in a JVM of its own with little memory. It ends with the test that started it. */
final class SmallHeapMain {
    private SmallHeapMain() {}

    public static void main(String[] args) throws IOException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(args[0]);
        try (Poller poller = PostgresOutbox.builder(dataSource)
                .table(args[1])
                .build()
                .poller()
                .to(item -> {})
                .start()) {
            while (System.in.read() >= 0) {
                System.out.println(poller.isRunning());
            }
        }
    }
}
