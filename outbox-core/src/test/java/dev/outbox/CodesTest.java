package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The codes are stored: changing one changes the meaning of every row. */
class CodesTest {
    @ParameterizedTest
    @CsvSource({"0, READY", "1, PROCESSING", "2, DONE", "3, DEAD"})
    void everyStatusHasItsStoredCode(int code, Status status) {
        assertThat(status.code()).isEqualTo(code);
        assertThat(Status.ofCode(code)).isEqualTo(status);
    }

    @ParameterizedTest
    @CsvSource({"0, HIGH", "1, NORMAL", "2, BULK"})
    void everyPriorityHasItsStoredCode(int code, Priority priority) {
        assertThat(priority.code()).isEqualTo(code);
        assertThat(Priority.ofCode(code)).isEqualTo(priority);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 4, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void anUnknownStatusCodeIsRefused(int code) {
        assertThatThrownBy(() -> Status.ofCode(code))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("status code must be between 0 and 3, was " + code);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 3, Integer.MIN_VALUE, Integer.MAX_VALUE})
    void anUnknownPriorityCodeIsRefused(int code) {
        assertThatThrownBy(() -> Priority.ofCode(code))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("priority code must be between 0 and 2, was " + code);
    }

    @Test
    void thereAreNoOtherCodes() {
        assertThat(Status.values()).hasSize(4);
        assertThat(Priority.values()).hasSize(3);
    }
}
