package dev.outbox.testkit.poller;

import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.testkit.InMemoryStore;
import dev.outbox.testkit.ManualClock;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A poller of a store in memory that delivers in batches, and the calls that it has made. */
final class BatchCalls {
    private final ManualClock clock = new ManualClock();
    final InMemoryStore store = new InMemoryStore(clock);
    final Events events = new Events();
    final List<List<WorkItem>> calls = new CopyOnWriteArrayList<>();

    int pollOnce(BatchDestination destination) {
        return poller(destination).build().pollOnce();
    }

    PollerBuilder poller(BatchDestination destination) {
        return Poller.from(store.source())
                .toBatch(items -> {
                    calls.add(items);
                    return destination.deliver(items);
                })
                .listener(events);
    }

    static List<Outcome> allDone(List<WorkItem> items) {
        return Collections.nCopies(items.size(), Outcome.done());
    }
}
