package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import java.sql.SQLException;
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

    @ParameterizedTest
    @CsvSource({"1205, run all of it again", "1222, roll back and try again", "208, the driver's words"})
    void aFailureSaysWhatToDo(int number, String advice) {
        OutboxException e = SqlServerLocks.failure(
                "enqueue into outbox failed", new SQLException("the driver's words", "S0001", number));

        assertThat(e).hasMessageStartingWith("enqueue into outbox failed").hasMessageContaining(advice);
        assertThat(e.isRetryable()).isEqualTo(number != 208);
    }
}
