package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.admin.Admin;
import dev.outbox.admin.Box;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.micrometer.OutboxMetrics;
import dev.outbox.micrometer.TableGauges;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.opentelemetry.OutboxTracing;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import dev.outbox.testkit.RecordingDestination;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.sdk.testing.junit5.OpenTelemetryExtension;
import io.opentelemetry.sdk.trace.data.SpanData;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code of docs/reference/metrics.md and tracing.md. */
class ObservingIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(OutboxMigrations::install);

    @RegisterExtension
    static final OpenTelemetryExtension OTEL = OpenTelemetryExtension.create();

    @Test
    void whatIsEnqueuedAndDeliveredIsCounted(DataSource dataSource) {
        MeterRegistry registry = new SimpleMeterRegistry();
        OutboxMetrics metrics = OutboxMetrics.of(registry, "outbox");
        Outbox outbox = PostgresOutbox.builder(dataSource).listener(metrics).build();
        TableGauges.bind(registry, "outbox", Admin.of(dataSource).build(), Box.OUTBOX);

        outbox.transaction(
                dataSource,
                tx -> outbox.enqueue(tx, Message.to("orders.placed").key("7").payload("{}")));
        double backlog = registry.get("outbox.backlog").gauge().value();
        outbox.poller().to(item -> {}).build().pollOnce();

        assertThat(backlog).isEqualTo(1);
        assertThat(registry.get("outbox.oldest.age").gauge().value()).isBetween(0.0, 3_600.0);
        assertThat(registry.get("outbox.dead.items").gauge().value()).isZero();
        assertThat(registry.get("outbox.enqueued")
                        .tag("topic", "orders.placed")
                        .counter()
                        .count())
                .isEqualTo(1);
        assertThat(registry.get("outbox.done")
                        .tag("topic", "orders.placed")
                        .counter()
                        .count())
                .isEqualTo(1);
    }

    @Test
    void aDeliveryBelongsToTheTraceOfItsEnqueue(DataSource dataSource) throws Exception {
        OpenTelemetry openTelemetry = OTEL.getOpenTelemetry();
        RecordingDestination recorded = RecordingDestination.create();
        Destination broker = recorded;
        OutboxTracing tracing = OutboxTracing.create(openTelemetry);
        Outbox outbox = tracing.outbox(PostgresOutbox.create(dataSource));
        Poller poller = outbox.poller().to(tracing.to(broker)).start();

        outbox.transaction(
                dataSource, tx -> outbox.enqueue(tx, Message.to("orders.placed").payload("{}")));
        recorded.awaitDeliveries(1);
        poller.close();

        assertThat(OTEL.getSpans())
                .extracting(SpanData::getName)
                .contains("enqueue orders.placed", "deliver orders.placed");
        assertThat(OTEL.getSpans()).extracting(SpanData::getTraceId).hasSize(2).containsOnly(traceOfTheItem(recorded));
    }

    private static String traceOfTheItem(RecordingDestination broker) {
        return broker.deliveries().get(0).headers().get("traceparent").split("-", -1)[1];
    }
}
