package dev.outbox.benchmarks;

import dev.outbox.Ack;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import javax.sql.DataSource;

/**
 * Our poller. Without keys it hands whole batches to the destination, with keys one item after the other of
 * each key.
 */
record OursRelay(String name, Ack ack, boolean byKey) implements Relay {
    private static final int CONCURRENCY = 2;

    static final OursRelay KEEP = new OursRelay("ours-keep", Ack.KEEP, false);
    static final OursRelay DELETE = new OursRelay("ours-delete", Ack.DELETE, false);
    static final OursRelay ORDERED = new OursRelay("ours-ordered", Ack.DELETE, true);

    @Override
    public String settings() {
        return "ack " + ack + ", batch size " + BATCH + ", concurrency " + CONCURRENCY + ", "
                + (byKey ? "to(...)" : "toBatch(...)");
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        OutboxTable.install(database);
        OutboxTable.fill(database, backlog);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        PollerBuilder poller = PostgresOutbox.builder(pool)
                .ack(ack)
                .build()
                .poller()
                .batchSize(BATCH)
                .concurrency(CONCURRENCY);
        if (byKey) {
            poller.to(item -> deliveries.arrive(item.payload()));
        } else {
            poller.toBatch(items -> deliver(items, deliveries));
        }
        return poller.start()::close;
    }

    private static List<Outcome> deliver(List<WorkItem> items, Deliveries deliveries) {
        for (WorkItem item : items) {
            deliveries.arrive(item.payload());
        }
        return Collections.nCopies(items.size(), Outcome.done());
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
