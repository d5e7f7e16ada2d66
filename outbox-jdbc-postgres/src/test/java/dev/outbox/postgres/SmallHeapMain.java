package dev.outbox.postgres;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** A poller in a JVM of its own with little memory, of the given form. It ends with the test that started it. */
final class SmallHeapMain {
    private SmallHeapMain() {}

    private static List<Outcome> allDone(List<WorkItem> items) {
        return Collections.nCopies(items.size(), Outcome.done());
    }

    public static void main(String[] args) throws IOException {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(args[0]);
        PollerBuilder builder =
                PostgresOutbox.builder(dataSource).table(args[1]).build().poller();
        try (Poller poller =
                (args[2].equals("to") ? builder.to(item -> {}) : builder.toBatch(SmallHeapMain::allDone)).start()) {
            while (System.in.read() >= 0) {
                System.out.println(poller.isRunning());
            }
        }
    }
}
