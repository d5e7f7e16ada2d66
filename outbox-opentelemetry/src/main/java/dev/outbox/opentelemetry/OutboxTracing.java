package dev.outbox.opentelemetry;

import dev.outbox.Outbox;
import dev.outbox.delivery.BatchDestination;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Routes;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.delivery.TransactionalRoutes;
import dev.outbox.internal.Require;
import io.opentelemetry.api.OpenTelemetry;

/**
 * Adds tracing by wrapping an outbox, whose messages then carry the {@code traceparent} of the span that enqueued them,
 * and destinations, whose deliveries then belong to the trace that the item's {@code traceparent} names.
 *
 * <pre>{@code
 * OutboxTracing tracing = OutboxTracing.create(openTelemetry);
 * Outbox outbox = tracing.outbox(PostgresOutbox.create(dataSource));
 * outbox.poller().to(tracing.to(broker)).start();
 * }</pre>
 *
 * <p>The items of an inbox carry the {@code traceparent} that came with the message, so there only the handlers are
 * wrapped. Spans name topic, message id, correlation id and the type of a failure; never payload, headers, keys or an
 * exception's text. {@code docs/reference/tracing.md} lists names and attributes. Immutable and thread-safe.
 */
public final class OutboxTracing {
    private final Spans spans;

    private OutboxTracing(Spans spans) {
        this.spans = spans;
    }

    public static OutboxTracing create(OpenTelemetry openTelemetry) {
        return new OutboxTracing(
                new Spans(Require.present("openTelemetry", openTelemetry).getTracer("dev.outbox")));
    }

    /**
     * Each call that enqueues is a producer span. A message that has a {@code traceparent} already keeps it. Everything
     * else works as in the given outbox.
     */
    public Outbox outbox(Outbox outbox) {
        return new TracedOutbox(spans, Require.present("outbox", outbox));
    }

    /**
     * Each delivery is a consumer span, a child of the one that enqueued the item, and current during the call.
     *
     * @throws IllegalArgumentException for {@link Routes}: a poller has to see the destination of each route to know
     *     whether it accepts messages
     */
    public Destination to(Destination destination) {
        if (Require.present("destination", destination) instanceof Routes) {
            throw new IllegalArgumentException(
                    "wrap the destination of each route, route(topic, tracing.to(...)), not the"
                            + " routes as a whole: the poller has to see each of them to know whether it accepts messages");
        }
        return new TracedDestination(spans, destination);
    }

    /** Each call is a consumer span of a trace of its own, linked to the spans that enqueued its items. */
    public BatchDestination toBatch(BatchDestination destination) {
        return new TracedBatchDestination(spans, Require.present("destination", destination));
    }

    /**
     * As {@link #to}, for a destination or handler whose effects commit with the settle of the item.
     *
     * @throws IllegalArgumentException for {@link TransactionalRoutes}: a poller has to see the handler of each route to
     *     know whether it accepts messages
     */
    public TransactionalDestination inTransaction(TransactionalDestination destination) {
        if (Require.present("destination", destination) instanceof TransactionalRoutes) {
            throw new IllegalArgumentException(
                    "wrap the handler of each route, route(topic, tracing.inTransaction(...)), not the"
                            + " routes as a whole: the poller has to see each of them to know whether it accepts messages");
        }
        return new TracedTransactionalDestination(spans, destination);
    }
}
