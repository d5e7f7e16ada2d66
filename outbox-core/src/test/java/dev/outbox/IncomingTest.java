package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.internal.CoreAccess;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import org.junit.jupiter.api.Test;

class IncomingTest {
    private final Incoming incoming = Incoming.from("shop", "m-1");

    @Test
    void itBecomesTheMessageThatAHandlerGets() {
        Message message = incoming.topic("placed")
                .key("k")
                .payload("p")
                .type("order")
                .header("a", "1")
                .headers(Map.of("b", "2"))
                .correlationId("c")
                .tenantId("t")
                .contentType("text/plain")
                .priority(Priority.BULK)
                .dueIn(Duration.ofSeconds(1))
                .message();

        assertThat(message.topic()).isEqualTo("placed");
        assertThat(message.id()).isEqualTo("m-1");
        assertThat(message.key()).isEqualTo("k");
        assertThat(message.payload()).isEqualTo("p");
        assertThat(message.headers()).isEqualTo(Map.of(PayloadSerializer.TYPE_HEADER, "order", "a", "1", "b", "2"));
        assertThat(message.correlationId()).isEqualTo("c");
        assertThat(message.tenantId()).isEqualTo("t");
        assertThat(message.contentType()).isEqualTo("text/plain");
        assertThat(message.priority()).isEqualTo(Priority.BULK);
        assertThat(message.dueIn()).isEqualTo(Duration.ofSeconds(1));
        assertThat(incoming.topic("placed").due(Instant.EPOCH).message().due()).isEqualTo(Instant.EPOCH);
    }

    @Test
    void eachMethodReturnsACopy() {
        Incoming other = incoming.topic("placed").payload("p").hash(new byte[Incoming.HASH_LENGTH]);

        assertThat(incoming.topic()).isNull();
        assertThat(other.topic()).isEqualTo("placed");
        assertThat(other.key("k").topic()).isEqualTo("placed");
        assertThat(other.source()).isEqualTo("shop");
        assertThat(other.messageId()).isEqualTo("m-1");
    }

    @Test
    void theHashIsSha256OfThePayloadUnlessOneIsGiven() {
        String ofAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assertThat(HexFormat.of().formatHex(incoming.payload("abc").hash())).isEqualTo(ofAbc);
        assertThat(incoming.payload("abc".getBytes(StandardCharsets.UTF_8)).hash())
                .isEqualTo(incoming.payload("abc").hash());

        byte[] given = new byte[Incoming.HASH_LENGTH];
        Incoming hashed = incoming.payload("abc").hash(given);
        given[0] = 1;
        hashed.hash()[0] = 1;
        assertThat(hashed.hash()).isEqualTo(new byte[Incoming.HASH_LENGTH]);
    }

    @Test
    void whatIsMissingOrWrongIsSaid() {
        assertThatThrownBy(() -> Incoming.from(" ", "m-1")).hasMessage("source must not be blank");
        assertThatThrownBy(() -> Incoming.from("shop", "x".repeat(256)))
                .hasMessage("messageId must be at most 255 characters, was 256");
        assertThatThrownBy(() -> incoming.topic("")).hasMessage("topic must not be blank");
        assertThatThrownBy(() -> incoming.hash(new byte[16]))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("hash must have 32 bytes, had 16; take SHA-256 of what identifies the message");
        assertThatThrownBy(incoming::hash)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("message m-1 from shop has neither payload nor hash, so a different message with its id"
                        + " would not be recognised; call payload(...) or hash(...)");
        assertThatThrownBy(() -> incoming.payload("p").message())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("message m-1 from shop has no topic, so no handler can be found; call topic(...), or call"
                        + " receive(...) instead");
    }

    @Test
    void aTextWithABrokenCharacterHasNoHash() {
        assertThatThrownBy(() -> incoming.payload("secret\uD800").hash())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "the payload of message m-1 from shop contains an unpaired surrogate, which is not a character;"
                                + " remove it, or give the payload as bytes");
        assertThat(incoming.payload("\0").hash())
                .isNotEqualTo(incoming.payload("").hash());
        assertThat(incoming.payload("\uD83D\uDE00").hash())
                .isEqualTo(incoming.payload(new byte[] {(byte) 0xF0, (byte) 0x9F, (byte) 0x98, (byte) 0x80})
                        .hash());
    }

    @Test
    void whatOnlyAHandlerWouldHeedIsNotReceived() {
        CoreAccess.checkReceivable(incoming.payload("p").header("a", "1"));

        assertRefused(incoming.topic("placed"), "a topic", "topic");
        assertRefused(incoming.key("k"), "a key", "key");
        assertRefused(incoming.due(Instant.EPOCH), "a due time", "due");
        assertRefused(incoming.dueIn(Duration.ofSeconds(1)), "a due time", "dueIn");
        assertRefused(incoming.priority(Priority.HIGH), "a priority", "priority");
    }

    private static void assertRefused(Incoming refused, String what, String method) {
        assertThatThrownBy(() -> CoreAccess.checkReceivable(refused))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("message m-1 from shop has " + what + ", but receive(...) does not run a handler;"
                        + " call enqueue(...), or leave out " + method + "(...)");
    }

    @Test
    void itIsNamedWithoutItsPayload() {
        assertThat(incoming.topic("placed").payload("secret").header("h", "secret"))
                .hasToString("Incoming[source=shop, messageId=m-1, topic=placed]");
    }
}
