package dev.outbox.testkit.poller;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Fails what it is told to; counts its calls. */
final class FailingBroker implements Destination {
    final AtomicInteger calls = new AtomicInteger();
    volatile Predicate<WorkItem> fails = item -> true;
    volatile Supplier<Exception> failure = () -> new IOException("down");

    @Override
    public void deliver(WorkItem item) throws Exception {
        calls.incrementAndGet();
        if (fails.test(item)) {
            throw failure.get();
        }
    }
}
