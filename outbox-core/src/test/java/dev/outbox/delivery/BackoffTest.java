package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BackoffTest {
    @ParameterizedTest
    @CsvSource({"0, 100", "1, 200", "2, 400", "8, 25600", "9, 30000", "20, 30000", "64, 30000", "2147483647, 30000"})
    void theBackoffDoublesToItsCapWithJitterInTheUpperHalf(int failures, long ceiling) {
        for (int i = 0; i < 200; i++) {
            assertThat(Backoff.after(failures)).isBetween(Duration.ofMillis(ceiling / 2), Duration.ofMillis(ceiling));
        }
    }
}
