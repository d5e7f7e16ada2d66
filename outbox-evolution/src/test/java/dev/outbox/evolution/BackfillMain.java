package dev.outbox.evolution;

import dev.outbox.migrations.Upgrade;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/** A backfill in a process of its own, which tells of each batch and after some stops, so that it can be killed in time. */
final class BackfillMain {
    private BackfillMain() {}

    /** @param args the database's address, the rows of a batch, and after how many batches to stop */
    public static void main(String[] args) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        AtomicInteger left = new AtomicInteger(Integer.parseInt(args[2]));
        dataSource.setUrl(args[0]);
        Upgrade.outbox("outbox")
                .backfill()
                .batch(Integer.parseInt(args[1]))
                .pause(Duration.ZERO)
                .listener(progress -> {
                    System.out.println(progress);
                    if (left.decrementAndGet() == 0) {
                        waitToBeKilled();
                    }
                })
                .run(dataSource);
    }

    private static void waitToBeKilled() {
        try {
            System.in.read();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
