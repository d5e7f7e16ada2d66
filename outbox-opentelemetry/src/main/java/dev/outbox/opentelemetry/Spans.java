package dev.outbox.opentelemetry;

import dev.outbox.Message;
import dev.outbox.WorkItem;
import dev.outbox.delivery.RetryAfterException;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Makes the spans, named and labelled by the conventions for messaging. The context travels in the W3C headers whatever the
 * application has configured for its calls: what is read back here was written here, and the table of an outbox may be
 * older than a configuration.
 */
final class Spans {
    private static final AttributeKey<String> SYSTEM = AttributeKey.stringKey("messaging.system");
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("messaging.operation.name");
    private static final AttributeKey<String> OPERATION_TYPE = AttributeKey.stringKey("messaging.operation.type");
    private static final AttributeKey<String> TOPIC = AttributeKey.stringKey("messaging.destination.name");
    private static final AttributeKey<String> MESSAGE_ID = AttributeKey.stringKey("messaging.message.id");
    private static final AttributeKey<String> CORRELATION_ID =
            AttributeKey.stringKey("messaging.message.conversation_id");
    private static final AttributeKey<Long> BATCH = AttributeKey.longKey("messaging.batch.message_count");
    private static final AttributeKey<Long> ATTEMPT = AttributeKey.longKey("outbox.attempt");
    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");

    private static final TextMapPropagator PROPAGATOR = W3CTraceContextPropagator.getInstance();
    private static final TextMapGetter<Map<String, String>> HEADERS = new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // earlier versions of the API ask for it
        public Iterable<String> keys(Map<String, String> headers) {
            return headers.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> headers, String name) {
            return headers == null ? null : headers.get(name);
        }
    };

    private final Tracer tracer;

    Spans(Tracer tracer) {
        this.tracer = tracer;
    }

    Span enqueue(List<Message> messages) {
        SpanBuilder span = span("enqueue", "create", SpanKind.PRODUCER, topic(messages));
        if (messages.size() == 1) {
            Message only = messages.get(0);
            describe(span, only.id(), only.correlationId());
        } else {
            span.setAttribute(BATCH, (long) messages.size());
        }
        return span.startSpan();
    }

    Span deliver(WorkItem item) {
        SpanBuilder span = span("deliver", "process", SpanKind.CONSUMER, item.topic())
                .setParent(PROPAGATOR.extract(Context.root(), item.headers(), HEADERS))
                .setAttribute(ATTEMPT, (long) item.attempt());
        describe(span, item.messageId(), item.correlationId());
        return span.startSpan();
    }

    Span deliver(List<WorkItem> items) {
        SpanBuilder span = span("deliver", "process", SpanKind.CONSUMER, topicOf(items))
                .setNoParent()
                .setAttribute(BATCH, (long) items.size());
        for (WorkItem item : items) {
            SpanContext enqueued = Span.fromContext(PROPAGATOR.extract(Context.root(), item.headers(), HEADERS))
                    .getSpanContext();
            if (enqueued.isValid()) {
                span.addLink(enqueued);
            }
        }
        return span.startSpan();
    }

    /** The message with the headers by which this span can be found again. */
    static Message carrying(Span span, Message message) {
        if (message.headers().containsKey("traceparent")) {
            return message;
        }
        Map<String, String> headers = new HashMap<>();
        PROPAGATOR.inject(Context.root().with(span), headers, (carrier, name, value) -> {
            if (carrier != null) {
                carrier.put(name, value);
            }
        });
        return headers.isEmpty() ? message : message.headers(headers);
    }

    /** The type alone: an exception's text may hold what must not leave the application. */
    static void failed(Span span, Throwable failure) {
        if (!(failure instanceof RetryAfterException)) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute(ERROR, failure.getClass().getName());
        }
    }

    private SpanBuilder span(String operation, String type, SpanKind kind, @Nullable String topic) {
        SpanBuilder span = tracer.spanBuilder(topic == null ? operation : operation + " " + topic)
                .setSpanKind(kind)
                .setAttribute(SYSTEM, "outbox")
                .setAttribute(OPERATION, operation)
                .setAttribute(OPERATION_TYPE, type);
        return topic == null ? span : span.setAttribute(TOPIC, topic);
    }

    private static void describe(SpanBuilder span, @Nullable String messageId, @Nullable String correlationId) {
        if (messageId != null) {
            span.setAttribute(MESSAGE_ID, messageId);
        }
        if (correlationId != null) {
            span.setAttribute(CORRELATION_ID, correlationId);
        }
    }

    /** The topic that all of these have, or null. */
    private static @Nullable String topic(List<Message> messages) {
        Set<String> topics = messages.stream().map(Message::topic).collect(Collectors.toSet());
        return topics.size() == 1 ? topics.iterator().next() : null;
    }

    private static @Nullable String topicOf(List<WorkItem> items) {
        return topic(items.stream().map(WorkItem::message).toList());
    }
}
