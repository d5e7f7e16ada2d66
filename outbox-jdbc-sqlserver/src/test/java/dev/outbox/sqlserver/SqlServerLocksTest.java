package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SqlServerLocksTest {
    @ParameterizedTest
    @CsvSource({"-1, true", "-2, true", "-3, true", "-999, false", "-4, false"})
    void everyAnswerOfTheServerIsRetryableOrNot(int code, boolean retryable) {
        OutboxException e = SqlServerLocks.refused("enqueue into outbox failed", code);

        assertThat(e.isRetryable()).isEqualTo(retryable);
        assertThat(e.vendorCode()).isEqualTo(code);
        assertThat(e)
                .hasMessageStartingWith("enqueue into outbox failed: ")
                .hasMessageEndingWith("[sp_getapplock " + code + "]");
    }
}
