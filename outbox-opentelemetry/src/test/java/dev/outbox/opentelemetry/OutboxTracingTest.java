package dev.outbox.opentelemetry;

import static io.opentelemetry.api.common.AttributeKey.longKey;
import static io.opentelemetry.api.common.AttributeKey.stringKey;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Stage;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.RetryAfterException;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.delivery.TransactionalRoutes;
import dev.outbox.testkit.InMemoryOutbox;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

@SuppressWarnings("try")
class OutboxTracingTest {
    @RegisterExtension
    static final OpenTelemetryExtension OTEL = OpenTelemetryExtension.create();

    private final InMemoryOutbox inner = new InMemoryOutbox();
    private final OutboxTracing tracing = OutboxTracing.create(OTEL.getOpenTelemetry());
    private final Outbox outbox = tracing.outbox(inner);
    private final List<WorkItem> delivered = new ArrayList<>();

    private void enqueue(Message... messages) throws Exception {
        outbox.transaction(inner.dataSource(), tx -> outbox.enqueueAll(tx, List.of(messages)));
    }

    private static Message message(String topic) {
        return Message.to(topic).payload("{\"card\":\"4111\"}");
    }

    private SpanData span(String name) {
        List<SpanData> named = OTEL.getSpans().stream()
                .filter(span -> span.getName().equals(name))
                .toList();
        assertThat(named).as("spans named %s of %s", name, OTEL.getSpans()).hasSize(1);
        return named.get(0);
    }

    @Test
    void aDeliveryIsAChildOfTheSpanThatEnqueuedTheMessageInTheTraceOfTheCaller() throws Exception {
        Span order =
                OTEL.getOpenTelemetry().getTracer("shop").spanBuilder("order").startSpan();
        try (Scope current = order.makeCurrent()) {
            enqueue(message("orders.placed").id("m-1").correlationId("c-1"));
        } finally {
            order.end();
        }

        outbox.poller().to(tracing.to(delivered::add)).build().pollOnce();

        SpanData enqueued = span("enqueue orders.placed");
        assertThat(enqueued.getKind()).isEqualTo(SpanKind.PRODUCER);
        assertThat(enqueued.getParentSpanId()).isEqualTo(order.getSpanContext().getSpanId());
        SpanData deliver = span("deliver orders.placed");
        assertThat(deliver.getKind()).isEqualTo(SpanKind.CONSUMER);
        assertThat(deliver.getTraceId()).isEqualTo(order.getSpanContext().getTraceId());
        assertThat(deliver.getParentSpanId()).isEqualTo(enqueued.getSpanId());
        assertThat(deliver.getAttributes().asMap())
                .containsEntry(stringKey("messaging.system"), "outbox")
                .containsEntry(stringKey("messaging.operation.name"), "deliver")
                .containsEntry(stringKey("messaging.operation.type"), "process")
                .containsEntry(stringKey("messaging.destination.name"), "orders.placed")
                .containsEntry(stringKey("messaging.message.id"), "m-1")
                .containsEntry(stringKey("messaging.message.conversation_id"), "c-1")
                .containsEntry(longKey("outbox.attempt"), 1L);
        assertThat(delivered)
                .singleElement()
                .satisfies(item -> assertThat(item.headers().get("traceparent"))
                        .startsWith("00-" + enqueued.getTraceId() + "-" + enqueued.getSpanId() + "-"));
    }

    @Test
    void theSpanOfTheDeliveryIsCurrentWhileTheDestinationWorks() throws Exception {
        enqueue(message("orders.placed"));
        List<String> current = new ArrayList<>();

        outbox.poller()
                .to(tracing.to(
                        item -> current.add(Span.current().getSpanContext().getSpanId())))
                .build()
                .pollOnce();

        assertThat(current).containsExactly(span("deliver orders.placed").getSpanId());
        assertThat(Span.current().getSpanContext().isValid()).isFalse();
    }

    @Test
    void aBatchIsOneSpanOfItsOwnLinkedToAllThatEnqueuedItsItems() throws Exception {
        enqueue(message("orders.placed"));
        enqueue(message("orders.placed"));
        inner.transaction(inner.dataSource(), tx -> inner.enqueue(tx, message("orders.placed"))); // not traced

        outbox.poller()
                .toBatch(tracing.toBatch(
                        items -> items.stream().map(item -> Outcome.done()).toList()))
                .build()
                .pollOnce();

        List<String> enqueued = OTEL.getSpans().stream()
                .filter(span -> span.getName().equals("enqueue orders.placed"))
                .map(SpanData::getSpanId)
                .toList();
        SpanData batch = span("deliver orders.placed");
        assertThat(enqueued).hasSize(2);
        assertThat(batch.getParentSpanContext().isValid()).isFalse();
        assertThat(batch.getLinks())
                .extracting(LinkData::getSpanContext)
                .extracting("spanId")
                .isEqualTo(enqueued);
        assertThat(batch.getAttributes().get(longKey("messaging.batch.message_count")))
                .isEqualTo(3);
    }

    @Test
    void messagesOfOneCallShareOneSpanAndOneOfSeveralTopicsNamesNone() throws Exception {
        enqueue(message("orders.placed"), message("mail.send"));

        outbox.poller().to(tracing.to(delivered::add)).build().pollOnce();

        SpanData enqueued = span("enqueue");
        assertThat(enqueued.getAttributes().get(longKey("messaging.batch.message_count")))
                .isEqualTo(2);
        assertThat(delivered)
                .hasSize(2)
                .allSatisfy(
                        item -> assertThat(item.headers().get("traceparent")).contains(enqueued.getSpanId()));
    }

    @Test
    void aMessageKeepsTheTraceparentThatItHas() throws Exception {
        String given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
        enqueue(message("orders.placed").header("traceparent", given));

        outbox.poller().to(tracing.to(delivered::add)).build().pollOnce();

        assertThat(delivered)
                .singleElement()
                .satisfies(item -> assertThat(item.headers()).containsEntry("traceparent", given));
        assertThat(span("deliver orders.placed").getParentSpanId()).isEqualTo("b7ad6b7169203331");
    }

    @Test
    void whatIsStagedCarriesTheSpanOfItsFlush() throws Exception {
        Stage stage = outbox.stage();
        stage.add(message("orders.placed"));

        outbox.transaction(inner.dataSource(), stage::flush);
        stage.committed();

        assertThat(stage.isEmpty()).isTrue();
        outbox.poller().to(tracing.to(delivered::add)).build().pollOnce();
        SpanData enqueued = span("enqueue orders.placed");
        assertThat(delivered)
                .singleElement()
                .satisfies(item -> assertThat(item.headers().get("traceparent")).contains(enqueued.getSpanId()));
    }

    @Test
    void aFailureMarksTheSpanByItsTypeAndTellsNoText() throws Exception {
        enqueue(message("orders.placed").key("customer-7"));

        outbox.poller()
                .to(tracing.to(item -> {
                    throw new IllegalStateException("refused: " + item.payload());
                }))
                .build()
                .pollOnce();

        SpanData deliver = span("deliver orders.placed");
        assertThat(deliver.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(deliver.getAttributes().get(stringKey("error.type"))).isEqualTo("java.lang.IllegalStateException");
        assertThat(OTEL.getSpans().toString()).doesNotContain("4111", "customer-7", "refused");
    }

    @Test
    void anItemOfABatchThatFailsMarksTheSpan() throws Exception {
        enqueue(message("orders.placed"), message("orders.placed"));

        outbox.poller()
                .toBatch(tracing.toBatch(
                        items -> List.of(Outcome.done(), Outcome.retry(new IllegalStateException("refused")))))
                .build()
                .pollOnce();

        assertThat(span("deliver orders.placed").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }

    @Test
    void askingToBeCalledLaterIsNoError() throws Exception {
        enqueue(message("orders.placed"));

        outbox.poller()
                .to(tracing.to(item -> {
                    throw new RetryAfterException(Duration.ofMinutes(1), "throttled");
                }))
                .build()
                .pollOnce();

        assertThat(span("deliver orders.placed").getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
    }

    @Test
    void anEnqueueThatIsRefusedIsAnErrorAndReachesTheCaller() throws Exception {
        try (Connection autoCommit = inner.dataSource().getConnection()) {
            assertThatThrownBy(() -> outbox.enqueue(autoCommit, message("orders.placed")))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("auto-commit");
        }

        assertThat(span("enqueue orders.placed").getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
    }

    @Test
    void aHandlerInATransactionIsTracedAsADestinationIs() throws Exception {
        WorkItem item = new WorkItem("1", 1, 1, Instant.EPOCH, message("orders.placed"));
        List<Connection> given = new ArrayList<>();
        try (Connection tx = inner.dataSource().getConnection()) {
            tracing.inTransaction((connection, traced) -> given.add(connection)).deliver(tx, item);

            assertThat(given).containsExactly(tx);
        }
        assertThat(span("deliver orders.placed").getKind()).isEqualTo(SpanKind.CONSUMER);
    }

    @Test
    void routesAreWrappedOneByOneSoThatEachIsKnownToThePoller() {
        Destination routes = Destination.byTopic().route("a", item -> {});
        TransactionalRoutes transactional = TransactionalDestination.byTopic().route("a", (tx, item) -> {});

        assertThatThrownBy(() -> tracing.to(routes))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("route(topic, tracing.to(...))");
        assertThatThrownBy(() -> tracing.inTransaction(transactional))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("route(topic, tracing.inTransaction(...))");
    }

    @Test
    void pollersThatWrapTheSameDestinationShareARoute() {
        Destination broker = item -> {};

        assertThat(tracing.to(broker)).isEqualTo(tracing.to(broker)).isNotEqualTo(tracing.to(item -> {}));
    }

    @Test
    void withoutAnOpenTelemetryNothingIsWritten() throws Exception {
        Outbox untraced = OutboxTracing.create(OpenTelemetry.noop()).outbox(inner);

        untraced.transaction(inner.dataSource(), tx -> untraced.enqueue(tx, message("orders.placed")));
        untraced.poller().to(delivered::add).build().pollOnce();

        assertThat(delivered)
                .singleElement()
                .satisfies(item -> assertThat(item.headers()).isEmpty());
    }
}
