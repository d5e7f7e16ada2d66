package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MessageTest {
    private static final String LONGEST = "x".repeat(255);
    private static final String TOO_LONG = "x".repeat(256);

    private final Message message = Message.to("orders.placed");

    static Stream<Arguments> names() {
        return Stream.of(
                name("topic", (m, value) -> Message.to(value)),
                name("id", Message::id),
                name("key", Message::key),
                name("header name", (m, value) -> m.header(value, "v")),
                name("correlationId", Message::correlationId),
                name("tenantId", Message::tenantId),
                name("contentType", Message::contentType));
    }

    private static Arguments name(String name, BiFunction<Message, String, Message> setter) {
        return Arguments.of(name, setter);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("names")
    void namesAreOneTo255CharactersAndNotBlank(String name, BiFunction<Message, String, Message> setter) {
        assertThatThrownBy(() -> setter.apply(message, ""))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(name + " must not be blank");
        assertThatThrownBy(() -> setter.apply(message, " \t\n"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(name + " must not be blank");
        assertThatThrownBy(() -> setter.apply(message, TOO_LONG))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(name + " must be at most 255 characters, was 256");
        assertThat(setter.apply(message, LONGEST)).isNotEqualTo(message);
    }

    @Test
    void whatIsRequiredMustNotBeNull() {
        assertThatThrownBy(() -> Message.to(null)).hasMessage("topic must not be null");
        assertThatThrownBy(() -> message.id(null)).hasMessage("id must not be null");
        assertThatThrownBy(() -> message.payload((String) null)).hasMessage("payload must not be null");
        assertThatThrownBy(() -> message.payload((byte[]) null)).hasMessage("payload must not be null");
        assertThatThrownBy(() -> message.header(null, "v")).hasMessage("header name must not be null");
        assertThatThrownBy(() -> message.header("trace", null)).hasMessage("header trace must not be null");
        assertThatThrownBy(() -> message.headers(null)).hasMessage("headers must not be null");
        assertThatThrownBy(() -> message.priority(null)).hasMessage("priority must not be null");
        assertThatThrownBy(() -> message.due(null)).hasMessage("due must not be null");
        assertThatThrownBy(() -> message.dueIn(null)).hasMessage("dueIn must not be null");
    }

    @Test
    void whatIsOptionalCanBeTakenBackWithNull() {
        Message full = message.key("k").correlationId("c").tenantId("t").contentType("text/plain");

        Message bare = full.key(null).correlationId(null).tenantId(null).contentType(null);

        assertThat(bare.key()).isNull();
        assertThat(bare.correlationId()).isNull();
        assertThat(bare.tenantId()).isNull();
        assertThat(bare.contentType()).isNull();
    }

    @Test
    void aNewMessageHasOnlyItsTopicAndTheDefaults() {
        assertThat(message.topic()).isEqualTo("orders.placed");
        assertThat(message.id()).isNull();
        assertThat(message.key()).isNull();
        assertThat(message.hasPayload()).isFalse();
        assertThat(message.isBinary()).isFalse();
        assertThat(message.headers()).isEmpty();
        assertThat(message.priority()).isEqualTo(Priority.NORMAL);
        assertThat(message.due()).isNull();
        assertThat(message.dueIn()).isNull();
    }

    @Test
    void everySetterReturnsACopyAndLeavesTheOriginalAsItWas() {
        Message full = message.id("id-1")
                .key("k")
                .payload("text")
                .header("a", "1")
                .correlationId("c")
                .tenantId("t")
                .contentType("text/plain")
                .priority(Priority.BULK)
                .due(Instant.parse("2030-01-01T00:00:00Z"));

        assertThat(full.topic()).isEqualTo("orders.placed");
        assertThat(full.id()).isEqualTo("id-1");
        assertThat(full.key()).isEqualTo("k");
        assertThat(full.payload()).isEqualTo("text");
        assertThat(full.headers()).containsExactly(entry("a", "1"));
        assertThat(full.correlationId()).isEqualTo("c");
        assertThat(full.tenantId()).isEqualTo("t");
        assertThat(full.contentType()).isEqualTo("text/plain");
        assertThat(full.priority()).isEqualTo(Priority.BULK);
        assertThat(full.due()).isEqualTo("2030-01-01T00:00:00Z");
        aNewMessageHasOnlyItsTopicAndTheDefaults();
    }

    @Test
    void twoCopiesOfOneMessageDoNotShareHeaders() {
        Message base = message.header("a", "1");

        Message one = base.header("b", "2");
        Message other = base.header("a", "3");

        assertThat(base.headers()).containsExactly(entry("a", "1"));
        assertThat(one.headers()).containsExactly(entry("a", "1"), entry("b", "2"));
        assertThat(other.headers()).containsExactly(entry("a", "3"));
    }

    @Test
    void headersAreCopiedInOrderAndCannotBeChanged() {
        Map<String, String> given = new LinkedHashMap<>();
        given.put("z", "1");
        given.put("a", "2");
        Message with = message.headers(given);

        given.put("later", "3");

        assertThat(with.headers()).containsExactly(entry("z", "1"), entry("a", "2"));
        assertThatThrownBy(() -> with.headers().put("b", "x")).isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void aHeaderValueMayBeEmptyOrLongButNotTooLong() {
        String secret = "s".repeat(8_193);

        assertThat(message.header("a", "").headers()).containsExactly(entry("a", ""));
        assertThat(message.header("a", "s".repeat(8_192)).headers()).hasSize(1);
        assertThatThrownBy(() -> message.header("a", secret))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("header a must be at most 8192 characters, was 8193");
    }

    @Test
    void aTextPayloadIsTextAndBytesInUtf8() {
        Message text = message.payload("grüße 🎈");

        assertThat(text.hasPayload()).isTrue();
        assertThat(text.isBinary()).isFalse();
        assertThat(text.payload()).isEqualTo("grüße 🎈");
        assertThat(text.payloadBytes()).isEqualTo("grüße 🎈".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aBinaryPayloadHasNoText() {
        Message binary = message.payload(new byte[] {1, 2});

        assertThat(binary.hasPayload()).isTrue();
        assertThat(binary.isBinary()).isTrue();
        assertThat(binary.payloadBytes()).containsExactly(1, 2);
        assertThatThrownBy(binary::payload)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the payload is binary; use payloadBytes()");
    }

    @Test
    void aMissingPayloadIsSaidSo() {
        assertThatThrownBy(message::payload)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the message has no payload");
        assertThatThrownBy(message::payloadBytes)
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the message has no payload");
    }

    @Test
    void anEmptyPayloadIsAPayload() {
        assertThat(message.payload("").hasPayload()).isTrue();
        assertThat(message.payload("").payload()).isEmpty();
        assertThat(message.payload(new byte[0]).hasPayload()).isTrue();
        assertThat(message.payload(new byte[0]).isBinary()).isTrue();
    }

    @Test
    void theLastPayloadSetWins() {
        assertThat(message.payload("text").payload(new byte[] {1}).isBinary()).isTrue();
        assertThat(message.payload(new byte[] {1}).payload("text").payload()).isEqualTo("text");
        assertThat(message.payload(new byte[] {1}).payload("text").isBinary()).isFalse();
    }

    @Test
    void aBinaryPayloadIsCopiedOnTheWayInAndOut() {
        byte[] given = {1, 2};
        Message binary = message.payload(given);

        given[0] = 9;
        binary.payloadBytes()[1] = 9;

        assertThat(binary.payloadBytes()).containsExactly(1, 2);
    }

    @Test
    void dueIsAnInstantOrADelayWhicheverCameLast() {
        Instant at = Instant.parse("2030-01-01T00:00:00Z");

        assertThat(message.due(at).dueIn(Duration.ofMinutes(1)).due()).isNull();
        assertThat(message.due(at).dueIn(Duration.ofMinutes(1)).dueIn()).hasMinutes(1);
        assertThat(message.dueIn(Duration.ofMinutes(1)).due(at).dueIn()).isNull();
        assertThat(message.dueIn(Duration.ofMinutes(1)).due(at).due()).isEqualTo(at);
    }

    @Test
    void dueIsWithinWhatDatabasesCanStore() {
        for (Instant good : List.of(Instant.parse("0001-01-01T00:00:00Z"), Instant.parse("9999-12-31T23:59:59Z"))) {
            assertThat(message.due(good).due()).isEqualTo(good);
        }
        assertThatThrownBy(() -> message.due(Instant.MAX))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("due must be in the years 1 to 9999, was " + Instant.MAX);
        assertThatThrownBy(() -> message.due(Instant.MIN)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> message.dueIn(Duration.ofMillis(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("dueIn must be between PT0S and ")
                .hasMessageEndingWith(", was PT-0.001S");
    }

    @Test
    void toStringNamesTheMessageWithoutItsContent() {
        String text = message.id("id-1")
                .key("k-1")
                .payload("payload-secret")
                .header("authorization", "header-secret")
                .tenantId("tenant-1")
                .toString();

        assertThat(text).isEqualTo("Message[topic=orders.placed, id=id-1, key=k-1]");
    }
}
