package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RetryPolicyTest {
    private final RetryPolicy policy = RetryPolicy.standard();

    @Test
    void theDefaultsAreTheWrittenOnes() {
        assertThat(policy.baseDelay()).hasSeconds(1);
        assertThat(policy.maxDelay()).hasMinutes(5);
        assertThat(policy.maxAttempts()).isEqualTo(10);
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "2, 2", "3, 4", "8, 128", "9, 256", "10, 300", "11, 300", "1000, 300"})
    void theCeilingDoublesFromTheBaseToTheCap(int attempt, long seconds) {
        assertThat(policy.ceilingAfter(attempt)).hasSeconds(seconds);
    }

    @ParameterizedTest
    @ValueSource(ints = {62, 63, 64, 65, 100, 128, 1_000, Integer.MAX_VALUE})
    void theCeilingDoesNotOverflow(int attempt) {
        RetryPolicy widest = new RetryPolicy(Duration.ofMillis(1), Duration.ofDays(30), 1_000);

        assertThat(widest.ceilingAfter(attempt)).hasDays(30);
        assertThat(widest.delayAfter(attempt)).isBetween(Duration.ZERO, Duration.ofDays(30));
    }

    @Test
    void theCeilingNeverFalls() {
        RetryPolicy widest = new RetryPolicy(Duration.ofMillis(1), Duration.ofDays(30), 1_000);

        assertThat(IntStream.rangeClosed(1, 200).mapToObj(widest::ceilingAfter).toList())
                .isSorted();
    }

    @Test
    void delaysAreSpreadOverTheUpperHalf() {
        var delays =
                IntStream.range(0, 2_000).mapToObj(i -> policy.delayAfter(4)).toList();

        assertThat(delays)
                .allSatisfy(delay -> assertThat(delay).isBetween(Duration.ofSeconds(4), Duration.ofSeconds(8)));
        assertThat(delays).anySatisfy(delay -> assertThat(delay).isLessThan(Duration.ofSeconds(5)));
        assertThat(delays).anySatisfy(delay -> assertThat(delay).isGreaterThan(Duration.ofSeconds(7)));
    }

    @Test
    void aFixedDelayIsTheCap() {
        RetryPolicy fixed = new RetryPolicy(Duration.ofSeconds(2), Duration.ofSeconds(2), 3);

        assertThat(fixed.ceilingAfter(1)).hasSeconds(2);
        assertThat(fixed.ceilingAfter(50)).hasSeconds(2);
    }

    @Test
    void anItemIsExhaustedAtItsLastAttempt() {
        RetryPolicy three = policy.maxAttempts(3);

        assertThat(three.isExhausted(2)).isFalse();
        assertThat(three.isExhausted(3)).isTrue();
        assertThat(three.isExhausted(4)).isTrue();
    }

    @Test
    void eachSettingIsChangedOnACopy() {
        RetryPolicy changed = policy.maxDelay(Duration.ofHours(1))
                .baseDelay(Duration.ofMinutes(1))
                .maxAttempts(5);

        assertThat(changed).isEqualTo(new RetryPolicy(Duration.ofMinutes(1), Duration.ofHours(1), 5));
        theDefaultsAreTheWrittenOnes();
    }

    @Test
    void whatMakesNoSenseIsRefused() {
        assertThatThrownBy(() -> policy.baseDelay(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("baseDelay must be between PT0.001S and PT24H, was PT0S");
        assertThatThrownBy(() -> policy.maxDelay(Duration.ofMillis(999)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxDelay must be between PT1S and PT720H, was PT0.999S");
        assertThatThrownBy(() -> policy.maxDelay(Duration.ofDays(31))).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> policy.maxAttempts(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("maxAttempts must be between 1 and 1000, was 0");
        assertThatThrownBy(() -> policy.maxAttempts(1_001)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> policy.baseDelay(null)).hasMessage("baseDelay must not be null");
    }
}
