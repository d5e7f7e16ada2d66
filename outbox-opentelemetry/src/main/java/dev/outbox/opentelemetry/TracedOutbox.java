package dev.outbox.opentelemetry;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Stage;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.internal.Require;
import dev.outbox.spi.Source;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.context.Scope;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import javax.sql.DataSource;

/** An outbox whose messages carry the span that enqueued them. */
final class TracedOutbox implements Outbox {
    private final Spans spans;
    private final Outbox outbox;

    TracedOutbox(Spans spans, Outbox outbox) {
        this.spans = spans;
        this.outbox = outbox;
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        List<Message> one = List.of(Require.present("message", message));
        return enqueue(one, carrying -> outbox.enqueue(tx, carrying.get(0)));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        if (Require.present("messages", messages).isEmpty()) {
            return outbox.enqueueAll(tx, messages);
        }
        return enqueue(List.copyOf(messages), carrying -> outbox.enqueueAll(tx, carrying));
    }

    @SuppressWarnings("try")
    private Enqueued enqueue(List<Message> messages, Function<List<Message>, Enqueued> store) {
        Span span = spans.enqueue(messages);
        try (Scope current = span.makeCurrent()) {
            return store.apply(messages.stream()
                    .map(message -> Spans.carrying(span, message))
                    .toList());
        } catch (RuntimeException | Error e) {
            Spans.failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }

    /** The context is that of the flush: a stage lives no longer than the unit of work. */
    @Override
    public Stage stage() {
        return outbox.stage().through(this);
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return outbox.waking(dataSource);
    }

    @Override
    public void wakeUp() {
        outbox.wakeUp();
    }

    @Override
    public PollerBuilder poller() {
        return outbox.poller();
    }

    @Override
    public Source source() {
        return outbox.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return outbox.purge(olderThan);
    }
}
