package dev.outbox.postgres;

import static dev.outbox.postgres.SleepingPollers.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;
import org.postgresql.util.PSQLException;

/** Connections of a data source that wakes pollers after a commit, and what does not count as one. */
class WakingConnectionIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final SleepingPollers pollers = new SleepingPollers(DATABASE);
    private final Outbox outbox = pollers.start();
    private final DataSource waking = outbox.waking(DATABASE.pool());

    @AfterEach
    void closePollers() {
        pollers.close();
    }

    @Test
    void aCommitOfAWakingConnectionWakes() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("a"));
            outbox.enqueueAll(tx, List.of(message("b"), message("c")));
            tx.commit();

            pollers.assertDelivered("a", "b", "c");
            outbox.enqueue(tx, message("d"));
            tx.commit();
            pollers.assertDelivered("d");
        }
    }

    @Test
    void aCommitThatEnqueuedNothingDoesNotWake() throws SQLException {
        pollers.commitUnnoticed(outbox, "unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            tx.commit();
        }

        pollers.assertNothingIsDelivered();
    }

    @Test
    void turningAutoCommitOnCommitsAndWakes() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("a"));
            tx.setAutoCommit(true);
        }

        pollers.assertDelivered("a");
    }

    @Test
    void aRollbackDoesNotWakeAndForgets() throws SQLException {
        pollers.commitUnnoticed(outbox, "unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("dropped"));
            tx.rollback();
            tx.commit();
        }

        pollers.assertNothingIsDelivered();
    }

    @Test
    void closingWithoutACommitDoesNotWake() throws SQLException {
        pollers.commitUnnoticed(outbox, "unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("dropped"));
        }

        pollers.assertNothingIsDelivered();
        outbox.wakeUp();
        pollers.assertDelivered("unnoticed");
        pollers.assertNothingIsDelivered();
    }

    @Test
    void aRollbackToASavepointKeepsWhatWasEnqueuedBeforeIt() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("a"));
            Savepoint savepoint = tx.setSavepoint();
            outbox.enqueue(tx, message("dropped"));
            tx.rollback(savepoint);
            tx.commit();
        }

        pollers.assertDelivered("a");
        pollers.assertNothingIsDelivered();
    }

    @Test
    void aWakingConnectionThrowsTheDriversExceptions() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            assertThatThrownBy(() -> tx.prepareStatement("SELECT nothing").executeQuery())
                    .isInstanceOf(PSQLException.class);
        }
    }

    @Test
    void aWakingConnectionUnwrapsToItselfAndToTheDrivers() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            assertThat(tx.isWrapperFor(PGConnection.class)).isTrue();
            assertThat(tx.unwrap(PGConnection.class)).isNotNull();
            assertThat(tx.isWrapperFor(Connection.class)).isTrue();
            assertThat(tx.unwrap(Connection.class)).isSameAs(tx);
            assertThat(tx.isWrapperFor(Runnable.class)).isFalse();
        }
    }

    @Test
    void aWakingDataSourceUnwrapsToItselfAndToThePool() throws SQLException {
        assertThat(waking.isWrapperFor(HikariDataSource.class)).isTrue();
        assertThat(waking.unwrap(HikariDataSource.class)).isSameAs(DATABASE.pool());
        assertThat(waking.unwrap(DataSource.class)).isSameAs(waking);
    }

    @Test
    void wrappersAreEqualToThemselvesOnly() throws SQLException {
        try (Connection one = waking.getConnection();
                Connection two = waking.getConnection()) {
            assertThat(one.equals(one)).isTrue();
            assertThat(one.equals(two)).isFalse();
            assertThat(one.hashCode()).isEqualTo(one.hashCode());
        }
        assertThat(waking.equals(waking)).isTrue();
        assertThat(waking.equals(outbox.waking(DATABASE.pool()))).isFalse();
        assertThat(waking.equals(DATABASE.pool())).isFalse();
        assertThat(waking.hashCode()).isEqualTo(waking.hashCode());
    }
}
