package dev.outbox.opentelemetry;

import dev.outbox.WorkItem;
import dev.outbox.delivery.TransactionalDestination;
import java.sql.Connection;

/** A record, so that pollers which wrap the same destination still share its route. */
record TracedTransactionalDestination(Spans spans, TransactionalDestination destination)
        implements TransactionalDestination {
    @Override
    public void deliver(Connection tx, WorkItem item) throws Exception {
        new TracedDestination(spans, traced -> destination.deliver(tx, traced)).deliver(item);
    }
}
