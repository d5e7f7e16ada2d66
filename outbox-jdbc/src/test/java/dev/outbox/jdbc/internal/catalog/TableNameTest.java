package dev.outbox.jdbc.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TableNameTest {
    @Test
    void aNameMayHaveASchema() {
        assertThat(TableName.parse("outbox")).isEqualTo(new TableName(null, "outbox"));
        assertThat(TableName.parse("billing.outbox")).isEqualTo(new TableName("billing", "outbox"));
        assertThat(TableName.parse("_Shop1.Out_Box")).isEqualTo(new TableName("_Shop1", "Out_Box"));
    }

    @Test
    void itReadsAsItWasWritten() {
        assertThat(TableName.parse("outbox")).hasToString("outbox");
        assertThat(TableName.parse("billing.outbox")).hasToString("billing.outbox");
        assertThat(TableName.parse("outbox").in("shop")).hasToString("shop.outbox");
        assertThat(TableName.parse("billing.outbox").in("shop")).hasToString("shop.outbox");
    }

    @Test
    void partsMayHaveSixtyThreeCharacters() {
        String longest = "x".repeat(63);

        assertThat(TableName.parse(longest + "." + longest).schema()).isEqualTo(longest);
        assertThatThrownBy(() -> TableName.parse(longest + "x")).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> TableName.parse(longest + "x.outbox")).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", ".", "a.", ".a", "a..b", "a.b.c", "a b", "a-b", "1a", "a\"", "a'", "a;b", "a\0", "a\n", "ä",
                "a.b\n", "a/*", "a--", "$a"
            })
    void everythingElseIsRefused(String name) {
        assertThatThrownBy(() -> TableName.parse(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(
                        " must be letters, digits and underscores, not start with a digit and have at most 63"
                                + " characters, was \"");
    }

    @Test
    void theRefusalSaysWhichPartAndWhatItWas() {
        assertThatThrownBy(() -> TableName.parse("my-schema.outbox"))
                .hasMessage("schema must be letters, digits and underscores, not start with a digit and have at most"
                        + " 63 characters, was \"my-schema\"");
        assertThatThrownBy(() -> TableName.parse("shop.my-outbox"))
                .hasMessage("table must be letters, digits and underscores, not start with a digit and have at most"
                        + " 63 characters, was \"my-outbox\"");
        assertThatThrownBy(() -> TableName.parse(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("table must not be null");
    }
}
