package dev.outbox.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeadersTextTest {
    private static final String[] ODD = {
        "\"",
        "\\",
        "/",
        "{",
        "}",
        ":",
        ",",
        "\n",
        "\r",
        "\t",
        "\b",
        "\f",
        "\u0000",
        "\u0001",
        "\u001f",
        "\u007f",
        "\u0085",
        "\u2028",
        "\ud83c\udf88",
        "\ud83c",
        "\udf88",
        "ü",
        "\\u0041",
        "null",
        " ",
        "a",
        "Z",
        "'"
    };

    @Test
    void noHeadersAreNoText() {
        assertThat(HeadersText.write(Map.of())).isNull();
        assertThat(HeadersText.read(null)).isEmpty();
        assertThat(HeadersText.read(" ")).isEmpty();
        assertThat(HeadersText.read("{}")).isEmpty();
        assertThat(HeadersText.read(" { } ")).isEmpty();
    }

    @Test
    void theTextIsPlainJson() {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("traceparent", "00-ab");
        headers.put("quote", "say \"hi\" \\ now");
        headers.put("control", "a\nb\u0000c");

        assertThat(HeadersText.write(headers))
                .isEqualTo("{\"traceparent\":\"00-ab\",\"quote\":\"say \\\"hi\\\" \\\\ now\","
                        + "\"control\":\"a\\nb\\u0000c\"}");
    }

    @Test
    void whatIsWrittenIsReadBackWhateverTheCharacters() {
        Random random = new Random(42);
        for (int round = 0; round < 5_000; round++) {
            Map<String, String> headers = new LinkedHashMap<>();
            for (int i = random.nextInt(5); i >= 0; i--) {
                headers.put(oddText(random), oddText(random));
            }

            String text = HeadersText.write(headers);

            assertThat(HeadersText.read(text)).as(text).isEqualTo(headers);
            assertThat(text.chars().allMatch(c -> c >= 0x20 && !Character.isSurrogate((char) c)))
                    .as(text)
                    .isTrue();
        }
    }

    private static String oddText(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(8); i >= 0; i--) {
            text.append(random.nextInt(4) == 0 ? (char) random.nextInt(0x10000) : ODD[random.nextInt(ODD.length)]);
        }
        return text.toString();
    }

    @Test
    void theOrderOfTheHeadersIsKept() {
        assertThat(HeadersText.read("{\"z\":\"1\",\"a\":\"2\",\"m\":\"3\"}"))
                .containsExactly(entry("z", "1"), entry("a", "2"), entry("m", "3"));
    }

    @Test
    void textOfOtherWritersIsReadToo() {
        assertThat(HeadersText.read("\r\n { \"a\" :\t\"1\" ,\n \"b\" : \"2\" } \n"))
                .containsExactly(entry("a", "1"), entry("b", "2"));
        assertThat(HeadersText.read("{\"a\":null,\"b\":\"2\"}")).containsExactly(entry("b", "2"));
        assertThat(HeadersText.read("{\"\\u0061\\/\\b\\f\\n\\r\\t\\\"\\\\\":\"\\u00FC\\ud83C\\uDF88\"}"))
                .containsExactly(entry("a/\b\f\n\r\t\"\\", "ü🎈"));
    }

    @Test
    void whatIsReadCannotBeChanged() {
        Map<String, String> headers = HeadersText.read("{\"a\":\"1\"}");

        assertThatThrownBy(() -> headers.put("b", "2")).isInstanceOf(UnsupportedOperationException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "secret",
                "\"secret\"",
                "null",
                "[\"secret\"]",
                "{",
                "{\"secret",
                "{\"secret\"",
                "{\"secret\":",
                "{\"secret\":\"secret",
                "{\"secret\":\"secret\"",
                "{\"secret\":\"secret\",",
                "{\"secret\":\"secret\",}",
                "{\"secret\":\"secret\"}}",
                "{\"secret\":\"secret\"} secret",
                "{\"secret\" \"secret\"}",
                "{secret:\"secret\"}",
                "{'secret':'secret'}",
                "{\"secret\":secret}",
                "{\"secret\":nul}",
                "{\"secret\":nullsecret}",
                "{\"secret\":1}",
                "{\"secret\":true}",
                "{\"secret\":{\"secret\":\"secret\"}}",
                "{\"secret\":[\"secret\"]}",
                "{\"secret\":\"\\x\"}",
                "{\"secret\":\"\\u12\"}",
                "{\"secret\":\"\\u12g4\"}",
                "{\"secret\":\"\\",
                "{,}"
            })
    void malformedTextIsRefusedWithItsPositionAndNeverItsContent(String text) {
        assertThatThrownBy(() -> HeadersText.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageMatching("headers are not a flat JSON object of strings: expected .+ at position \\d+")
                .hasMessageNotContaining("secret");
    }

    @Test
    void cutOrGarbledTextNeverFailsInAnotherWay() {
        Random random = new Random(7);
        String whole = "{\"na\\u0041me\":\"va\\\"lue\",\"other\":null,\"x\":\"y\"}";
        for (int round = 0; round < 20_000; round++) {
            StringBuilder text = new StringBuilder(whole.substring(0, random.nextInt(whole.length() + 1)));
            if (text.length() > 0 && random.nextBoolean()) {
                text.setCharAt(random.nextInt(text.length()), ODD[random.nextInt(ODD.length)].charAt(0));
            }
            try {
                HeadersText.read(text.toString());
            } catch (IllegalArgumentException malformed) {
                assertThat(malformed).hasMessageStartingWith("headers are not a flat JSON object of strings");
            }
        }
    }
}
