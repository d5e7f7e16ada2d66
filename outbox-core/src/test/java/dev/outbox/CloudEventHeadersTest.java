package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.net.URI;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Map;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CloudEventHeadersTest {
    private static final URI SOURCE = URI.create("https://shop.example/orders");
    private static final Instant CREATED = Instant.parse("2026-03-01T12:00:00.123456Z");
    private static final String TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    private static WorkItem item(Function<Message, Message> change) {
        return new WorkItem(
                "row-1", 1, 1, CREATED, change.apply(Message.to("orders.placed").payload("{}")));
    }

    private static final WorkItem FULL = item(message -> message.id("m-1")
            .key("customer-7")
            .contentType("application/json")
            .header("message-type", "orders.placed.v1")
            .header("traceparent", TRACEPARENT)
            .header("tracestate", "vendor=1")
            .header("internal", "not for CloudEvents"));

    @Test
    void everythingAnItemHasIsMapped() {
        assertThat(CloudEventHeaders.kafka(SOURCE).of(FULL))
                .containsExactly(
                        entry("ce_specversion", "1.0"),
                        entry("ce_id", "m-1"),
                        entry("ce_source", "https://shop.example/orders"),
                        entry("ce_type", "orders.placed.v1"),
                        entry("ce_subject", "customer-7"),
                        entry("ce_time", "2026-03-01T12:00:00.123456Z"),
                        entry("ce_partitionkey", "customer-7"),
                        entry("ce_traceparent", TRACEPARENT),
                        entry("ce_tracestate", "vendor=1"),
                        entry("content-type", "application/json"));
    }

    @Test
    void theExampleInTheReferenceGivesAMapOfHeaders() {
        WorkItem item = FULL;

        CloudEventHeaders events = CloudEventHeaders.http(URI.create("https://shop.example/orders"));
        Map<String, String> headers = events.of(item);

        assertThat(headers).containsEntry("ce-id", "m-1").containsEntry("ce-source", "https://shop.example/orders");
    }

    @Test
    void anItemThatHasOnlyATopicIsStillACloudEvent() {
        assertThat(CloudEventHeaders.http(SOURCE).of(item(message -> message)))
                .containsExactly(
                        entry("ce-specversion", "1.0"),
                        entry("ce-id", "row-1"),
                        entry("ce-source", "https://shop.example/orders"),
                        entry("ce-type", "orders.placed"),
                        entry("ce-time", "2026-03-01T12:00:00.123456Z"));
    }

    @Test
    void namesAndValuesFollowTheSpecification() {
        Map<String, String> headers = CloudEventHeaders.http(SOURCE).of(FULL);

        assertThat(headers).containsKeys("ce-id", "ce-source", "ce-specversion", "ce-type");
        assertThat(headers).allSatisfy((name, value) -> {
            assertThat(name).matches("ce-[a-z0-9]{1,20}|content-type");
            assertThat(value).isNotEmpty();
        });
        assertThat(OffsetDateTime.parse(headers.get("ce-time")).toInstant()).isEqualTo(CREATED);
        assertThat(URI.create(headers.get("ce-source"))).isEqualTo(SOURCE);
    }

    @Test
    void tracestateGoesOnlyWithTraceparent() {
        WorkItem item = item(message -> message.header("tracestate", "vendor=1"));

        assertThat(CloudEventHeaders.kafka(SOURCE).of(item)).doesNotContainKeys("ce_tracestate", "ce_traceparent");
    }

    @Test
    void httpValuesArePercentEncoded() {
        WorkItem item = item(message -> message.key("Zoë \"50%\" 😀~"));

        assertThat(CloudEventHeaders.http(SOURCE).of(item))
                .containsEntry("ce-subject", "Zo%C3%AB%20%2250%25%22%20%F0%9F%98%80~");
        assertThat(CloudEventHeaders.kafka(SOURCE).of(item)).containsEntry("ce_subject", "Zoë \"50%\" 😀~");
    }

    @ParameterizedTest
    @ValueSource(strings = {"a\nb", "a\u007Fb", "a\u0085b", "a\uD800b", "a\uFFFEb", "a\uFDD0b", "a\uD83F\uDFFEb"})
    void charactersThatCloudEventsForbidsAreAPermanentFailure(String key) {
        WorkItem item = item(message -> message.key(key));

        assertThatThrownBy(() -> CloudEventHeaders.kafka(SOURCE).of(item))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessageMatching("CloudEvents attribute subject must not contain U\\+[0-9A-F]{4,5}, but does at"
                        + " position 1");
    }

    @Test
    void aContentTypeCannotSmuggleAHeader() {
        WorkItem item = item(message -> message.contentType("text/plain\r\nx-admin: 1"));

        assertThatThrownBy(() -> CloudEventHeaders.http(SOURCE).of(item))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessageContaining("datacontenttype");
    }

    @Test
    void theSourceIsRequired() {
        assertThatThrownBy(() -> CloudEventHeaders.http(URI.create("")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("source must not be empty");
        assertThat(CloudEventHeaders.http(URI.create("/orders")).of(FULL)).containsEntry("ce-source", "/orders");
    }
}
