package dev.outbox.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RequireTest {
    @Test
    void aValueThatFitsIsHandedBack() {
        assertThat(Require.present("x", "v")).isEqualTo("v");
        assertThat(Require.text("x", "v", 1)).isEqualTo("v");
        assertThat(Require.optionalText("x", null, 1)).isNull();
        assertThat(Require.between("x", 1, 1, 1)).isEqualTo(1);
        assertThat(Require.notNegative("x", Duration.ZERO)).isZero();
    }

    @Test
    void aValueThatDoesNotFitIsNamedWithTheRule() {
        assertThatThrownBy(() -> Require.present("x", null))
                .isInstanceOf(NullPointerException.class)
                .hasMessage("x must not be null");
        assertThatThrownBy(() -> Require.between("x", 0, 1, 2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("x must be between 1 and 2, was 0");
        assertThatThrownBy(() -> Require.between("x", 3, 1, 2)).hasMessage("x must be between 1 and 2, was 3");
        assertThatThrownBy(() -> Require.notNegative("x", Duration.ofNanos(-1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Require.notNegative("x", Duration.ofDays(36_501)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void textThatDoesNotFitIsNotShown() {
        assertThatThrownBy(() -> Require.text("x", "secret", 3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("x must be at most 3 characters, was 6");
    }
}
