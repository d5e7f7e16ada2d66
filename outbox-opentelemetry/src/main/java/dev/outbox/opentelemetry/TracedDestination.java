package dev.outbox.opentelemetry;

import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;

/** A record, so that pollers which wrap the same destination still share its route. */
record TracedDestination(Spans spans, Destination destination) implements Destination {
    @Override
    @SuppressWarnings("try")
    public void deliver(WorkItem item) throws Exception {
        Span span = spans.deliver(item);
        try (Scope current = span.makeCurrent()) {
            destination.deliver(item);
        } catch (Throwable e) {
            Spans.failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }
}
