package dev.outbox.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.outbox.internal.HeadersText;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The JSON of headers, which the core writes and reads without a library, against a library. */
class HeadersFuzzTest {
    private static final int ROUNDS = 3_000;
    private static final TypeReference<LinkedHashMap<String, String>> STRINGS = new TypeReference<>() {};
    private static final int WITHOUT_SURROGATES = 3;
    private static final int CHARACTERS = 4;
    private static final int ANYTHING = 5;
    private static final String STRUCTURE = "\"\\/{}[]:, u0";
    private static final String SPECIAL = "\"\\/\b\f\n\r\t{}[]:, u\u0000\u001F\u007F\u0085\u2028\uFEFF\uFFFEäß€";

    private final JsonMapper plain = JsonMapper.builder().build();
    private final JsonMapper escaping = JsonMapper.builder()
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .enable(JsonWriteFeature.ESCAPE_FORWARD_SLASHES)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    @Test
    void whatTheCoreWritesJacksonReadsAsTheSame() throws JsonProcessingException {
        Random random = new Random(42);
        for (int i = 0; i < ROUNDS; i++) {
            Map<String, String> headers = headers(random, CHARACTERS);

            assertThat(plain.readValue(HeadersText.write(headers), STRINGS)).isEqualTo(headers);
        }
    }

    @Test
    void evenWhatIsNoCharacterComesBackAsItWas() {
        Random random = new Random(41);
        for (int i = 0; i < ROUNDS; i++) {
            Map<String, String> headers = headers(random, ANYTHING);

            assertThat(HeadersText.read(HeadersText.write(headers))).isEqualTo(headers);
        }
    }

    @Test
    void whatJacksonWritesTheCoreReadsAsTheSame() throws JsonProcessingException {
        Random random = new Random(43);
        for (int i = 0; i < ROUNDS; i++) {
            Map<String, String> headers = headers(random, CHARACTERS);

            assertThat(HeadersText.read(plain.writeValueAsString(headers))).isEqualTo(headers);
            assertThat(HeadersText.read(escaping.writeValueAsString(headers))).isEqualTo(headers);
        }
    }

    /** The core is more patient inside strings: with unescaped control characters and unpaired surrogates. */
    @Test
    void brokenStructureIsRefusedByBoth() {
        Random random = new Random(44);
        int refused = 0;
        for (int i = 0; i < ROUNDS; i++) {
            StringBuilder text = new StringBuilder(HeadersText.write(headers(random, WITHOUT_SURROGATES)));
            text.setCharAt(random.nextInt(text.length()), STRUCTURE.charAt(random.nextInt(STRUCTURE.length())));
            if (!jacksonReads(text.toString())) {
                refused++;
                assertThatThrownBy(() -> HeadersText.read(text.toString()))
                        .as(
                                "%s",
                                text.toString()
                                        .codePoints()
                                        .mapToObj(Integer::toHexString)
                                        .toList())
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
        assertThat(refused).isGreaterThan(ROUNDS / 10);
    }

    private boolean jacksonReads(String text) {
        try (var parser = plain.createParser(text)) {
            parser.readValueAs(STRINGS);
            return parser.nextToken() == null;
        } catch (IOException e) {
            return false;
        }
    }

    private static Map<String, String> headers(Random random, int kinds) {
        Map<String, String> headers = new LinkedHashMap<>();
        int count = 1 + random.nextInt(4);
        for (int i = 0; i < count; i++) {
            headers.put(text(random, kinds), text(random, kinds));
        }
        return headers;
    }

    private static String text(Random random, int kinds) {
        StringBuilder text = new StringBuilder();
        int length = random.nextInt(12);
        for (int i = 0; i < length; i++) {
            switch (random.nextInt(kinds)) {
                case 0 -> text.append((char) ('a' + random.nextInt(26)));
                case 1 -> text.append(SPECIAL.charAt(random.nextInt(SPECIAL.length())));
                case 2 -> text.append((char) random.nextInt(0xD800));
                case 3 -> text.appendCodePoint(0x10000 + random.nextInt(0x100000));
                default -> text.append((char) (0xD800 + random.nextInt(0x800)));
            }
        }
        return text.toString();
    }
}
