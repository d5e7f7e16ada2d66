package dev.outbox.micrometer;

import dev.outbox.internal.Require;
import java.time.Duration;

/**
 * The backlog of a table.
 *
 * @param ready items that wait, due or not
 * @param processing items that are leased, by any poller
 * @param dead items given up and not yet requeued or discarded
 * @param oldestDue for how long the oldest due item has been due; zero if none is
 */
public record TableReading(long ready, long processing, long dead, Duration oldestDue) {
    public TableReading {
        Require.present("oldestDue", oldestDue);
    }
}
