package dev.outbox.jdbc.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StorableTextTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "a",
                "\u0001\t\n",
                "\u007f\u0080",
                "\u07ff\u0800",
                "é漢字",
                "🎉",
                "a🎉🎉z",
                "\ud7ff\ue000\ufffd\uffff"
            })
    void theLengthIsThatOfUtf8(String text) {
        assertThat(StorableText.check("payload", text)).isEqualTo(text.getBytes(StandardCharsets.UTF_8).length);
    }

    @Test
    void nothingIsNothing() {
        assertThat(StorableText.check("key", null)).isZero();
    }

    @Test
    void zeroIsRefusedWithItsPlace() {
        assertThatThrownBy(() -> StorableText.check("key", "ab\0"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("key contains U+0000 at position 2, which text columns cannot store; remove it, or send"
                        + " the payload as bytes");
    }

    @ParameterizedTest
    @CsvSource({"D83C", "DF89", "D83C D83C", "DF89 D83C", "D83C 0061", "D83C 0000"})
    void halfACharacterIsRefusedWithItsPlace(String units) {
        StringBuilder text = new StringBuilder("ab");
        for (String unit : units.split(" ")) {
            text.append((char) Integer.parseInt(unit, 16));
        }

        assertThatThrownBy(() -> StorableText.check("topic", text.toString()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "topic contains an unpaired surrogate at position 2, which is not a character; remove it, or"
                                + " send the payload as bytes");
    }
}
