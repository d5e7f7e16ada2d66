package dev.outbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.sql.SQLException;
import org.junit.jupiter.api.Test;

class OutboxExceptionTest {
    @Test
    void itShowsWhatTheDatabaseSaid() {
        SQLException cause = new SQLException("deadlock detected", "40P01", 1205);

        OutboxException e = new OutboxException("enqueue failed", cause, true);

        assertThat(e).hasMessage("enqueue failed").hasCause(cause);
        assertThat(e.isRetryable()).isTrue();
        assertThat(e.sqlState()).isEqualTo("40P01");
        assertThat(e.vendorCode()).isEqualTo(1205);
    }

    @Test
    void withoutADatabaseErrorThereIsNoState() {
        OutboxException e = new OutboxException("x", new IOException(), true);

        assertThat(e.sqlState()).isNull();
        assertThat(e.vendorCode()).isZero();
        assertThat(new OutboxException("x").sqlState()).isNull();
        assertThat(new OutboxException("x").vendorCode()).isZero();
        assertThat(new OutboxException("x").isRetryable()).isFalse();
    }
}
