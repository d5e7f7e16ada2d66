package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JsonRowsTest {
    @Test
    void textsAndBytesStandBesideTheJson() {
        JsonRows rows = new JsonRows(false);
        rows.row().set("id", "x").text("topic", "\"a\\b\"").text("key", null).bytes("bytes", bytes("12"));
        rows.row().set("blocks", true).text("topic", "c").bytes("bytes", new byte[0]);

        assertThat(rows.json().text())
                .isEqualTo(
                        "[{\"n\":0,\"id\":\"x\",\"topic_at\":1,\"topic_length\":5,\"bytes_at\":1,\"bytes_length\":2},"
                                + "{\"n\":1,\"blocks\":1,\"topic_at\":6,\"topic_length\":1,\"bytes_at\":3,\"bytes_length\":0}]");
        assertThat(rows.texts().text()).isEqualTo("\"a\\b\"c");
        assertThat(rows.bytes()).isEqualTo(bytes("12"));
    }

    @Test
    void placesAreCountedAsTheServerCounts() {
        JsonRows units = new JsonRows(false);
        JsonRows codePoints = new JsonRows(true);
        for (JsonRows rows : new JsonRows[] {units, codePoints}) {
            rows.row().text("a", "🚀").text("b", "x");
        }

        assertThat(units.json().text()).contains("\"a_length\":2", "\"b_at\":3");
        assertThat(codePoints.json().text()).contains("\"a_length\":1", "\"b_at\":2");
    }

    @Test
    void bucketsAreSortedAndTopicsEscaped() {
        assertThat(JsonRows.numbers(new Integer[] {3, 1, 2}).text()).isEqualTo("[1, 2, 3]");
        assertThat(JsonRows.topics(Set.of("a\"b")).text()).isEqualTo("[{\"n\":0,\"t\":\"a\\\"b\"}]");
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
