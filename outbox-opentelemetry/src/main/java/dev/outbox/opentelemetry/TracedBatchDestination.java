package dev.outbox.opentelemetry;

import dev.outbox.WorkItem;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Outcome;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import java.util.List;

/** A record, so that pollers which wrap the same destination still share its route. */
record TracedBatchDestination(Spans spans, BatchDestination destination) implements BatchDestination {
    @Override
    @SuppressWarnings("try")
    public List<Outcome> deliver(List<WorkItem> items) throws Exception {
        Span span = spans.deliver(items);
        try (Scope current = span.makeCurrent()) {
            List<Outcome> outcomes = destination.deliver(items);
            if (outcomes != null) {
                outcomes.forEach(outcome -> failed(span, outcome));
            }
            return outcomes;
        } catch (Throwable e) {
            Spans.failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }

    /** One item that failed is enough for a span that people should look at; the last one names the type. */
    private static void failed(Span span, Outcome outcome) {
        if (outcome instanceof Outcome.Retry retry) {
            Spans.failed(span, retry.cause());
        } else if (outcome instanceof Outcome.Dead dead) {
            Spans.failed(span, dead.cause());
        }
    }
}
