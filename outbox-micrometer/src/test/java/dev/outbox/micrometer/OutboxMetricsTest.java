package dev.outbox.micrometer;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.Receipt;
import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.testkit.InMemoryOutbox;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;

class OutboxMetricsTest {
    private static final Instant STORED = Instant.parse("2026-11-16T03:00:00Z");

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final OutboxMetrics metrics =
            OutboxMetrics.of(registry, "outbox", Clock.fixed(STORED.plusSeconds(90), ZoneOffset.UTC));

    private double count(String name, String... tags) {
        return registry.get(name).tags(tags).counter().count();
    }

    private static WorkItem item(String topic) {
        return new WorkItem("1", 1, 1, STORED, message(topic));
    }

    private static Message message(String topic) {
        return Message.to(topic).payload("{}");
    }

    private static Receipt receipt(Receipt.Kind kind) {
        return new Receipt(kind, STORED, STORED, 1);
    }

    @Test
    void aPollerIsCountedFromClaimToVerdict() {
        InMemoryOutbox outbox = new InMemoryOutbox();
        outbox.store().add(List.of(message("good"), message("good"), message("failing"), message("poison")));

        outbox.poller()
                .to(item -> {
                    if (item.topic().equals("failing")) {
                        throw new IllegalStateException("not now");
                    }
                    if (item.topic().equals("poison")) {
                        throw new PermanentFailureException("never");
                    }
                })
                .listener(metrics)
                .build()
                .pollOnce();

        assertThat(count("outbox.claimed", "table", "outbox", "topic", "good")).isEqualTo(2);
        assertThat(count("outbox.done", "topic", "good")).isEqualTo(2);
        assertThat(count("outbox.retried", "topic", "failing")).isEqualTo(1);
        assertThat(count("outbox.dead", "topic", "poison")).isEqualTo(1);
        assertThat(count("outbox.dead", "topic", "good")).isZero();
        assertThat(registry.get("outbox.delivery.time")
                        .tag("topic", "good")
                        .timer()
                        .count())
                .isEqualTo(2);
        assertThat(registry.get("outbox.batch.size").summary().totalAmount()).isEqualTo(4);
        assertThat(registry.get("outbox.poll.time").timer().count()).isEqualTo(1);
    }

    @Test
    void aPollThatFindsNothingIsTimedAndIsNoBatch() {
        new InMemoryOutbox().poller().to(item -> {}).listener(metrics).build().pollOnce();

        assertThat(registry.get("outbox.poll.time").timer().count()).isEqualTo(1);
        assertThat(registry.get("outbox.batch.size").summary().count()).isZero();
    }

    @Test
    void everyOtherEventIsCountedToo() {
        metrics.on(new OutboxEvent.Enqueued(List.of(message("a"), message("a"), message("b"))));
        metrics.on(new OutboxEvent.Released("p", item("a")));
        metrics.on(new OutboxEvent.Fenced("p", item("a")));
        metrics.on(new OutboxEvent.Ignored("p", item("a")));
        metrics.on(new OutboxEvent.LeaseLost("p", List.of(item("a"), item("a"))));
        metrics.on(new OutboxEvent.DestinationDown("p", "a", new IllegalStateException(), Duration.ofSeconds(1)));
        metrics.on(new OutboxEvent.DestinationUp("p", "a"));
        metrics.on(new OutboxEvent.Renewed("p", List.of()));
        metrics.on(new OutboxEvent.Purged(500));
        metrics.on(new OutboxEvent.PollFailed("p", new IllegalStateException(), Duration.ofSeconds(1)));
        metrics.on(new OutboxEvent.Received("billing", "shop", "m-1", receipt(Receipt.Kind.FIRST)));
        metrics.on(new OutboxEvent.Received("billing", "shop", "m-1", receipt(Receipt.Kind.DUPLICATE)));
        metrics.on(new OutboxEvent.Conflict("billing", "shop", "m-1", receipt(Receipt.Kind.CONFLICT)));

        assertThat(count("outbox.enqueued", "topic", "a")).isEqualTo(2);
        assertThat(count("outbox.enqueued", "topic", "b")).isEqualTo(1);
        assertThat(count("outbox.released", "topic", "a")).isEqualTo(1);
        assertThat(count("outbox.fenced", "topic", "a")).isEqualTo(1);
        assertThat(count("outbox.ignored", "topic", "a")).isEqualTo(1);
        assertThat(count("outbox.lease.lost", "topic", "a")).isEqualTo(2);
        assertThat(count("outbox.destination.down")).isEqualTo(1);
        assertThat(count("outbox.purged")).isEqualTo(500);
        assertThat(count("outbox.poll.failed")).isEqualTo(1);
        assertThat(count("outbox.received", "kind", "first")).isEqualTo(1);
        assertThat(count("outbox.received", "kind", "duplicate")).isEqualTo(1);
        assertThat(count("outbox.received", "kind", "conflict")).isEqualTo(1);
    }

    @Test
    void latencyCountsFromWhenTheItemWasStoredAndIsNeverNegative() {
        metrics.on(new OutboxEvent.Done("p", item("a"), Duration.ofMillis(20)));
        WorkItem ahead = new WorkItem("2", 2, 1, STORED.plusSeconds(3_600), message("ahead"));
        metrics.on(new OutboxEvent.Done("p", ahead, Duration.ofMillis(20)));

        assertThat(registry.get("outbox.latency").tag("topic", "a").timer().totalTime(SECONDS))
                .isEqualTo(90);
        assertThat(registry.get("outbox.latency").tag("topic", "ahead").timer().totalTime(SECONDS))
                .isZero();
    }

    @Test
    void topicsWithoutEndShareOneSetOfMeters() {
        for (int i = 0; i < 3 * OutboxMetrics.MAX_TOPICS; i++) {
            metrics.on(new OutboxEvent.Done("p", item("topic-" + i), Duration.ZERO));
        }

        assertThat(registry.get("outbox.done").counters()).hasSize(OutboxMetrics.MAX_TOPICS + 1);
        assertThat(count("outbox.done", "topic", OutboxMetrics.OTHER_TOPICS)).isEqualTo(2 * OutboxMetrics.MAX_TOPICS);
        assertThat(count("outbox.done", "topic", "topic-7")).isEqualTo(1);
    }

    @Test
    void aTableWithoutANameIsRefused() {
        assertThatThrownBy(() -> OutboxMetrics.of(registry, " "))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("table");
    }

    @Test
    void aKindOfEventThatALaterVersionBringsIsIgnored() {
        record Unheard() implements OutboxEvent {}

        metrics.on(new Unheard());

        assertThat(registry.getMeters())
                .allSatisfy(meter -> assertThat(meter.measure())
                        .allSatisfy(m -> assertThat(m.getValue()).isZero()));
    }
}
