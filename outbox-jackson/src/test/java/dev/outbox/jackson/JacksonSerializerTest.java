package dev.outbox.jackson;

import static dev.outbox.internal.CoreAccess.serialized;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import dev.outbox.EncodedBody;
import dev.outbox.Message;
import dev.outbox.PermanentFailureException;
import dev.outbox.UnknownTypeException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JacksonSerializerTest {
    record Times(OffsetDateTime offset, ZonedDateTime zoned, Duration length) {}

    record Account(String name, int balance) {}

    record Checked(int positive) {
        Checked {
            if (positive <= 0) {
                throw new IllegalArgumentException("refused: " + positive);
            }
        }
    }

    static class Animal {
        public String name = "cat";
    }

    static class Lion extends Animal {}

    static class Endless {
        public Endless self = this;
    }

    private final JacksonSerializer serializer = JacksonSerializer.builder()
            .type("orders.placed.v1", OrderPlaced.class)
            .type("times.v1", Times.class)
            .type("account.v1", Account.class)
            .type("checked.v1", Checked.class)
            .type("animal.v1", Animal.class)
            .type("endless.v1", Endless.class)
            .build();

    @Test
    void aBodyComesBackAsItWas() {
        EncodedBody encoded = serializer.encode(OrderPlaced.example());

        assertThat(serializer.decode(encoded, OrderPlaced.class)).isEqualTo(OrderPlaced.example());
    }

    @Test
    void timesAreIso8601AndKeepTheirOffset() {
        Times times = new Times(
                OffsetDateTime.parse("2026-03-01T12:00:00+05:30"),
                ZonedDateTime.parse("2026-03-01T12:00:00+01:00"),
                Duration.ofMinutes(90));

        EncodedBody encoded = serializer.encode(times);

        assertThat(encoded.text())
                .isEqualTo("{\"offset\":\"2026-03-01T12:00:00+05:30\",\"zoned\":\"2026-03-01T12:00:00+01:00\","
                        + "\"length\":\"PT1H30M\"}");
        assertThat(serializer.decode(encoded, Times.class)).isEqualTo(times);
        assertThat(serializer.encode(OrderPlaced.example()).text())
                .contains("\"2026-03-01T12:00:00.123456789Z\"", "\"2026-03-04\"");
    }

    @Test
    void noClassNameIsOnTheWire() {
        Message message = serialized(Message.to("orders.placed").body(OrderPlaced.example()), serializer);

        assertThat(message.headers()).containsOnlyKeys("message-type").containsValue("orders.placed.v1");
        assertThat(message.contentType()).isEqualTo("application/json");
        assertThat(message.payload() + message.headers())
                .doesNotContain("OrderPlaced", "Line", "java", "dev.outbox", "@class");
        assertThat(message.body(OrderPlaced.class)).isEqualTo(OrderPlaced.example());
    }

    @Test
    void anUnknownTypeIsNamedAndIsNoPermanentFailure() {
        assertThatThrownBy(() -> serializer.decode(json("orders.placed.v9", "{}"), OrderPlaced.class))
                .isExactlyInstanceOf(UnknownTypeException.class)
                .hasMessage("unknown type orders.placed.v9; the serializer knows [account.v1, animal.v1, checked.v1,"
                        + " endless.v1, orders.placed.v1, times.v1]");
    }

    @Test
    void aClassNameIsJustAnUnknownType() {
        String className = Account.class.getName();

        assertThatThrownBy(() -> serializer.decode(json(className, "{}"), Account.class))
                .isExactlyInstanceOf(UnknownTypeException.class)
                .hasMessageStartingWith("unknown type " + className);
    }

    @Test
    void anotherClassThanTheListedOneIsRefused() {
        assertThatThrownBy(() -> serializer.decode(json("account.v1", "{}"), OrderPlaced.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("type account.v1 stands for dev.outbox.jackson.JacksonSerializerTest$Account, not for"
                        + " dev.outbox.jackson.OrderPlaced");
        assertThatThrownBy(() -> serializer.decode(json("account.v1", "{}"), Record.class))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aClassThatIsNotListedIsRefused() {
        assertThatThrownBy(() -> serializer.encode("text"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("java.lang.String has no type name, and that of another class does not apply; add"
                        + " type(\"…\", String.class) to the serializer");
    }

    @Test
    void aSubclassOfAListedClassIsNotListed() {
        assertThat(serializer.encode(new Animal()).type()).isEqualTo("animal.v1");
        assertThatThrownBy(() -> serializer.encode(new Lion()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Lion has no type name");
    }

    @Test
    void nullIsNoBody() {
        assertThatThrownBy(() -> serializer.encode(null)).hasMessage("body must not be null");
        assertThatThrownBy(() -> serializer.decode(json("account.v1", "null"), Account.class))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessage("a body of type account.v1 must not be null, but the payload is");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "sesame",
                "{\"name\":\"sesame\"",
                "{\"name\":\"sesame\",\"balance\":\"sesame\"}",
                "{\"name\":{\"sesame\":1}}",
                "[\"sesame\"]",
                "{\"name\":\"a\"} sesame"
            })
    void contentThatDoesNotFitIsAPermanentFailureThatDoesNotRepeatIt(String content) {
        assertThatThrownBy(() -> serializer.decode(json("account.v1", content), Account.class))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessageMatching("the payload is not a body of type account\\.v1: \\w+ at line \\d+, column \\d+")
                .hasMessageNotContaining("sesame")
                .hasNoCause();
    }

    @Test
    void aBodyThatItsClassRefusesIsAPermanentFailure() {
        assertThatThrownBy(() -> serializer.decode(json("checked.v1", "{\"positive\":-42}"), Checked.class))
                .isInstanceOf(PermanentFailureException.class)
                .hasMessageNotContaining("42")
                .hasNoCause();
    }

    @Test
    void bytesAreReadAsUtf8() {
        byte[] bytes = "{\"name\":\"Zoë\",\"balance\":1}".getBytes(StandardCharsets.UTF_8);
        EncodedBody encoded = EncodedBody.bytes("account.v1", null, bytes);
        EncodedBody broken = EncodedBody.bytes("account.v1", null, new byte[] {'"', (byte) 0xC3, '('});

        assertThat(serializer.decode(encoded, Account.class)).isEqualTo(new Account("Zoë", 1));
        assertThatThrownBy(() -> serializer.decode(broken, Account.class))
                .isInstanceOf(PermanentFailureException.class);
    }

    @Test
    void aBodyThatCannotBeWrittenIsRefused() {
        assertThatThrownBy(() -> serializer.encode(new Endless()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a body of type endless.v1 cannot be written as JSON")
                .hasCauseInstanceOf(com.fasterxml.jackson.core.JsonProcessingException.class);
    }

    @Test
    void anOldConsumerIgnoresANewField() {
        EncodedBody newer = json("account.v1", "{\"name\":\"Ada\",\"balance\":1,\"currency\":{\"code\":\"EUR\"}}");

        assertThat(serializer.decode(newer, Account.class)).isEqualTo(new Account("Ada", 1));
    }

    @Test
    void aMapperOfOnesOwnIsCopied() {
        ObjectMapper mapper = new ObjectMapper().setPropertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE);
        JacksonSerializer.Builder builder =
                JacksonSerializer.builder().type("account.v1", Account.class).mapper(mapper);
        mapper.setPropertyNamingStrategy(PropertyNamingStrategies.UPPER_CAMEL_CASE);

        EncodedBody encoded = builder.build().encode(new Account("Ada", 1));

        assertThat(encoded.text()).isEqualTo("{\"name\":\"Ada\",\"balance\":1}");
    }

    @Test
    @SuppressWarnings("deprecation")
    void defaultTypingIsRefused() {
        ObjectMapper mapper = new ObjectMapper().enableDefaultTyping();
        JacksonSerializer.Builder builder = JacksonSerializer.builder();

        assertThatThrownBy(() -> builder.mapper(mapper))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("mapper must not use default typing");
        mapper.deactivateDefaultTyping();
        builder.mapper(mapper);
    }

    @Test
    void aNameAndAClassAreListedOnce() {
        JacksonSerializer.Builder builder = JacksonSerializer.builder().type("account.v1", Account.class);

        assertThatThrownBy(() -> builder.type("account.v1", Checked.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "type account.v1 is listed already, for" + " dev.outbox.jackson.JacksonSerializerTest$Account");
        assertThatThrownBy(() -> builder.type("account.v2", Account.class))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("dev.outbox.jackson.JacksonSerializerTest$Account is listed already, as type account.v1");
        assertThatThrownBy(() -> builder.type(" ", Checked.class)).hasMessage("type name must not be blank");
    }

    @Test
    void aSerializerWithoutTypesIsRefused() {
        assertThatThrownBy(() -> JacksonSerializer.builder().build())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the serializer has no types; add one with type(name, class)");
    }

    private static EncodedBody json(String type, String content) {
        return EncodedBody.text(type, "application/json", content);
    }
}
