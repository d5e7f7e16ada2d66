package dev.outbox;

import static dev.outbox.internal.CoreAccess.serialized;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import dev.outbox.Greetings.Bye;
import dev.outbox.Greetings.Hello;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class MessageBodyTest {
    private final Greetings greetings = new Greetings();
    private final Message hello = Message.to("greetings").body(new Hello("Ada"));

    @Test
    void aBodyBecomesPayloadTypeHeaderAndContentType() {
        Message encoded = serialized(hello, greetings);

        assertThat(encoded.payload()).isEqualTo("Ada");
        assertThat(encoded.headers()).containsExactly(entry("message-type", "hello.v1"));
        assertThat(encoded.contentType()).isEqualTo("text/plain");
    }

    @Test
    void aBodyMayBecomeBytesWithoutAContentType() {
        Message encoded = serialized(Message.to("greetings").body(new Bye("Ada")), greetings);

        assertThat(encoded.isBinary()).isTrue();
        assertThat(encoded.payloadBytes()).isEqualTo("Ada".getBytes(StandardCharsets.UTF_8));
        assertThat(encoded.contentType()).isNull();
        assertThat(encoded.body(Bye.class)).isEqualTo(new Bye("Ada"));
    }

    @Test
    void theCallersContentTypeIsKeptAndTheTypeHeaderIsReplaced() {
        Message encoded = serialized(
                hello.contentType("text/x-name").header("message-type", "stale").header("tenant", "blue"), greetings);

        assertThat(encoded.contentType()).isEqualTo("text/x-name");
        assertThat(encoded.headers()).containsExactly(entry("message-type", "hello.v1"), entry("tenant", "blue"));
    }

    @Test
    void aBodyIsNoPayloadUntilItIsEncoded() {
        assertThat(hello.hasPayload()).isFalse();
        assertThat(hello.headers()).isEmpty();
        assertThat(serialized(hello, greetings).hasPayload()).isTrue();
    }

    @Test
    void payloadAndBodyReplaceEachOther() {
        assertThat(serialized(hello.payload("text"), greetings).headers()).isEmpty();
        assertThat(serialized(hello.payload(new byte[1]), greetings).isBinary()).isTrue();
        assertThat(Message.to("greetings")
                        .payload("text")
                        .body(new Hello("Ada"))
                        .hasPayload())
                .isFalse();
        assertThat(Message.to("greetings")
                        .payload(new byte[1])
                        .body(new Hello("Ada"))
                        .hasPayload())
                .isFalse();
    }

    @Test
    void anEncodedMessageIsNotEncodedAgain() {
        Message encoded = serialized(hello, greetings);

        assertThat(serialized(encoded, greetings)).isSameAs(encoded);
        assertThat(serialized(encoded, null).payload()).isEqualTo("Ada");
    }

    @Test
    void aBodyWithoutASerializerIsRefused() {
        assertThatThrownBy(() -> serialized(hello, null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("message to greetings has a body, but there is no serializer; set one with"
                        + " serializer(...), or encode the body yourself and call payload(...)");
        assertThat(serialized(Message.to("greetings").payload(""), null).payload())
                .isEmpty();
    }

    @Test
    void noBodyIsNotABody() {
        assertThatThrownBy(() -> Message.to("greetings").body((Object) null)).hasMessage("body must not be null");
    }

    @Test
    void whatTheSerializerThrowsReachesTheCaller() {
        assertThatThrownBy(() -> serialized(Message.to("greetings").body(1), greetings))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("java.lang.Integer has no type name");
    }

    @Test
    void theBodyIsDecodedByTheSerializerOfTheMessage() {
        Message stored =
                serialized(Message.to("greetings").payload("Ada").header("message-type", "hello.v1"), greetings);
        WorkItem item = new WorkItem("1", 1, 1, Instant.EPOCH, stored);

        assertThat(stored.body(Hello.class)).isEqualTo(new Hello("Ada"));
        assertThat(item.body(Hello.class)).isEqualTo(new Hello("Ada"));
    }

    @Test
    void beforeEnqueueTheBodyIsTheObjectThatWasGiven() {
        assertThat(hello.body(Hello.class)).isEqualTo(new Hello("Ada"));
        assertThatThrownBy(() -> hello.body(Record.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the body of the message to greetings is a dev.outbox.Greetings$Hello, not a"
                        + " java.lang.Record");
    }

    @Test
    void decodingNeedsASerializer() {
        Message stored = Message.to("greetings").payload("Ada").header("message-type", "hello.v1");

        assertThatThrownBy(() -> stored.body(Hello.class))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("the body of the message to greetings cannot be decoded without a serializer; set one"
                        + " with serializer(...), or read payload()");
    }

    @Test
    void decodingNeedsATypeName() {
        Message untyped = serialized(Message.to("greetings").payload("Ada"), greetings);

        assertThatThrownBy(() -> untyped.body(Hello.class))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("the body of the message to greetings cannot be decoded, because it has no header"
                        + " message-type; read payload() instead");
        assertThatThrownBy(() -> untyped.header("message-type", " ").body(Hello.class))
                .isInstanceOf(PermanentFailureException.class);
    }

    @Test
    void anEncodedBodyIsTextOrBytes() {
        byte[] bytes = {1, 2};
        EncodedBody binary = EncodedBody.bytes("t", null, bytes);
        bytes[0] = 9;
        binary.bytes()[1] = 9;

        assertThat(binary.bytes()).containsExactly(1, 2);
        assertThat(binary.isBinary()).isTrue();
        assertThatThrownBy(binary::text).hasMessage("the content is binary; use bytes()");
        assertThat(EncodedBody.text("t", null, "ä").bytes()).isEqualTo("ä".getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(() -> EncodedBody.text(" ", null, "")).hasMessage("type must not be blank");
        assertThat(EncodedBody.text("t", "text/plain", "secret"))
                .hasToString("EncodedBody[type=t, contentType=text/plain]");
    }
}
