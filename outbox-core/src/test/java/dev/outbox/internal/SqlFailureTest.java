package dev.outbox.internal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import java.sql.SQLException;
import java.sql.SQLNonTransientException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTransientConnectionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SqlFailureTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "08000",
                "08001",
                "08003",
                "08006",
                "08S01", // connection
                "40001",
                "40P01",
                "40003", // serialization, deadlock, unknown outcome
                "53000",
                "53100",
                "53200",
                "53300", // disk, memory, connections
                "25006", // a primary that became a replica
                "55P03", // lock timeout
                "57014",
                "57P01",
                "57P02",
                "57P03" // cancelled, shutting down, crashed, starting
            })
    void whatMaySucceedNextTimeIsRetryable(String state) {
        assertThat(SqlFailure.isRetryable(new SQLException("x", state))).isTrue();
        assertThat(SqlFailure.of("enqueue failed", new SQLException("x", state)).isRetryable())
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "22001", "22P02", "23505", "23514", "25P02", "28P01", "3D000", "42501", "42703", "42P01", "54000",
                "55000", "55006", "XX000", "P0001", "0A000", "4", ""
            })
    void whatStaysWrongIsNot(String state) {
        assertThat(SqlFailure.isRetryable(new SQLException("x", state))).isFalse();
    }

    @Test
    void theDriversOwnClassesCountToo() {
        assertThat(SqlFailure.isRetryable(new SQLTransientConnectionException("pool is exhausted")))
                .isTrue();
        assertThat(SqlFailure.isRetryable(new SQLRecoverableException("gone"))).isTrue();
        assertThat(SqlFailure.isRetryable(new SQLNonTransientException("no"))).isFalse();
        assertThat(SqlFailure.isRetryable(new SQLException("no state"))).isFalse();
    }

    @Test
    void theMessageSaysWhatFailedAndWhyInOneLine() {
        SQLException cause = new SQLException(
                "ERROR: violates check constraint \"c\"\n  Detail: Failing row contains (secret).", "23514", 7);

        OutboxException e = SqlFailure.of("enqueue into outbox failed", cause);

        assertThat(e)
                .hasMessage("enqueue into outbox failed: ERROR: violates check constraint \"c\" [SQLState 23514]")
                .cause()
                .isInstanceOf(SQLException.class)
                .hasMessage("ERROR: violates check constraint \"c\" [SQLState 23514]");
        assertThat(e.getCause().getStackTrace()).isEqualTo(cause.getStackTrace());
        assertThat(e.sqlState()).isEqualTo("23514");
        assertThat(e.vendorCode()).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"22P02", "22001", "P0001"})
    void whereTheFirstLineMayQuoteTheRowItIsLeftOut(String state) {
        SQLException cause = new SQLException("ERROR: invalid input syntax for type integer: \"secret\"", state);

        assertThat(SqlFailure.of("enqueue into outbox failed", cause))
                .hasMessage("enqueue into outbox failed: the database refused the row [SQLState " + state + "]")
                .hasRootCauseMessage("the database refused the row [SQLState " + state + "]");
    }

    @Test
    void aCauseWithoutMessageOrStateIsNoProblem() {
        assertThat(SqlFailure.of("claim failed", new SQLException())).hasMessage("claim failed: null [SQLState null]");
    }

    @Test
    void theNumberDecidesWhereSqlServersDriverHasNoStandardState() {
        for (int number : new int[] {1205, 1222, 3906, 3960, 40613}) {
            assertThat(SqlFailure.isRetryable(new SQLException("try again", "S0051", number)))
                    .as("error %d", number)
                    .isTrue();
        }
        for (int number : new int[] {0, 102, 208, 334, 650, 2627, 50000}) {
            assertThat(SqlFailure.isRetryable(new SQLException("no", "S0001", number)))
                    .as("error %d", number)
                    .isFalse();
        }
        assertThat(SqlFailure.isRetryable(new SQLException("deadlock", "40001", 1205)))
                .isTrue();
    }

    @Test
    void whatSqlServerQuotesIsNotRepeated() {
        for (int number : new int[] {245, 2627, 2628, 8152, 51000}) {
            assertThat(SqlFailure.of("enqueue failed", new SQLException("the value is secret", "S0001", number)))
                    .as("error %d", number)
                    .hasMessage("enqueue failed: the database refused the row [error " + number + ", SQLState S0001]")
                    .hasStackTraceContaining("refused the row")
                    .satisfies(e -> assertThat(e.getCause()).hasMessageNotContaining("secret"));
        }
        assertThat(SqlFailure.of("claim failed", new SQLException("Invalid object name 'x'.", "S0002", 208)))
                .hasMessageContaining("Invalid object name 'x'.");
    }

    @Test
    void aCommitWithoutAnAnswerIsNotRetryable() {
        for (SQLException lost : new SQLException[] {
            new SQLException("connection reset", "08006"),
            new SQLException("terminated", "57P01"),
            new SQLException("unknown", "40003"),
            new SQLException("no state"),
            new SQLRecoverableException("lost", "S0001", 0),
            new SQLException("severed", "S0001", 596)
        }) {
            assertThat(SqlFailure.ofCommit(lost))
                    .as(lost.getMessage())
                    .isInstanceOf(UnknownCommitException.class)
                    .extracting(OutboxException::isRetryable)
                    .isEqualTo(false);
        }
        for (SQLException refused : new SQLException[] {
            new SQLException("serialization", "40001"), new SQLException("deadlock", "S0001", 1205)
        }) {
            assertThat(SqlFailure.ofCommit(refused))
                    .isNotInstanceOf(UnknownCommitException.class)
                    .extracting(OutboxException::isRetryable)
                    .isEqualTo(true);
        }
    }
}
