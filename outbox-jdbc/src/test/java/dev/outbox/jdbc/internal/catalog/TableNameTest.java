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
    void aTableMayHaveSixtyThreeCharacters() {
        String longest = "x".repeat(63);

        assertThat(TableName.parse("billing." + longest).name()).isEqualTo(longest);
        assertThatThrownBy(() -> TableName.parse(longest + "x")).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"tenant-a", "Café", "my schema", "1a", "a\"b]c", "v1.2"})
    void aSchemaMayHaveAnyNameWithoutControlCharacters(String schema) {
        assertThat(TableName.parse(schema + ".outbox").schema()).isEqualTo(schema);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "", " ", "a.", "a b", "a-b", "1a", "a\"", "a'", "a;b", "a\0", "a\n", "ä", "a.b\n", "a/*", "a--", "$a"
            })
    void everyOtherTableIsRefused(String name) {
        assertThatThrownBy(() -> TableName.parse(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("table must be letters, digits and underscores, not start with a digit and have"
                        + " at most 63 characters, was \"");
    }

    @ParameterizedTest
    @ValueSource(strings = {".", ".outbox", "a\n.outbox", "a\0.outbox", "a:b.outbox", "a--b.outbox"})
    void everyOtherSchemaIsRefused(String name) {
        assertThatThrownBy(() -> TableName.parse(name))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("schema must have 1 to 128 characters, no control character, no colon and no two"
                        + " hyphens in a row, was \"");
    }

    @Test
    void theRefusalSaysWhatItWas() {
        assertThatThrownBy(() -> TableName.parse("shop.my-outbox"))
                .hasMessage("table must be letters, digits and underscores, not start with a digit and have at most"
                        + " 63 characters, was \"my-outbox\"");
        assertThatThrownBy(() -> TableName.parse(null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("table must not be null");
    }
}
