package dev.outbox.postgres;

import static dev.outbox.postgres.SleepingPollers.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.BoundOutbox;
import dev.outbox.CurrentTransaction;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.ds.PGSimpleDataSource;

/** What wakes a poller whose idle pause is an hour, and what does not. */
class WakeUpIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final SleepingPollers pollers = new SleepingPollers(DATABASE);
    private final Outbox outbox = pollers.start();

    @AfterEach
    void closePollers() {
        pollers.close();
    }

    @Test
    void anExplicitCallWakes() throws SQLException {
        pollers.commitUnnoticed(outbox, "a");
        pollers.assertNothingIsDelivered();

        outbox.wakeUp();

        pollers.assertDelivered("a");
    }

    @Test
    void aCommitWakesEveryPollerOfTheOutbox() {
        pollers.close();
        for (String topic : List.of("left", "right")) {
            outbox.transaction(
                    DATABASE.pool(), tx -> outbox.enqueue(tx, Message.to(topic).payload("started")));
            pollers.start(outbox.poller().topics(topic));
        }
        pollers.assertDelivered("started", "started");

        outbox.transaction(
                DATABASE.pool(),
                tx -> outbox.enqueueAll(
                        tx,
                        List.of(
                                Message.to("left").payload("a"),
                                Message.to("right").payload("b"))));

        pollers.assertDelivered("a", "b");
    }

    @Test
    void aCommitOfTheHelperWakes() {
        String answer = outbox.transaction(DATABASE.pool(), tx -> {
            outbox.enqueue(tx, message("a"));
            return "answer";
        });

        assertThat(answer).isEqualTo("answer");
        pollers.assertDelivered("a");
    }

    @Test
    void theHelperThrowsOnWhatTheWorkThrowsAndRollsBack() throws SQLException {
        pollers.commitUnnoticed(outbox, "unnoticed");
        for (Exception thrown : List.of(
                new IOException("checked"), new SQLException("of a driver"), new IllegalStateException("unchecked"))) {
            assertThatThrownBy(() -> outbox.transaction(DATABASE.pool(), tx -> {
                        outbox.enqueue(tx, message("dropped"));
                        throw thrown;
                    }))
                    .isSameAs(thrown);
        }

        pollers.assertNothingIsDelivered();
        outbox.wakeUp();
        pollers.assertDelivered("unnoticed");
        pollers.assertNothingIsDelivered();
    }

    @Test
    void theHelperRollsBackOnAnError() {
        Error thrown = new AssertionError("of the work");

        assertThatThrownBy(() -> outbox.transaction(DATABASE.pool(), tx -> {
                    outbox.enqueue(tx, message("dropped"));
                    throw thrown;
                }))
                .isSameAs(thrown);

        outbox.wakeUp();
        pollers.assertNothingIsDelivered();
    }

    @Test
    void theHelperGivesTheConnectionBackAsItCame() throws SQLException {
        for (boolean autoCommit : new boolean[] {true, false}) {
            try (Connection connection = DATABASE.pool().getConnection()) {
                connection.setAutoCommit(autoCommit);
                DataSource single = new SingleConnection(connection);

                outbox.transaction(single, tx -> assertThat(tx.getAutoCommit()).isFalse());
                assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);

                assertThatThrownBy(() -> outbox.transaction(single, tx -> {
                            throw new IOException("checked");
                        }))
                        .isInstanceOf(IOException.class);
                assertThat(connection.getAutoCommit()).isEqualTo(autoCommit);
                connection.setAutoCommit(true);
            }
        }
    }

    @Test
    void aCommitThatFailsIsAnOutboxExceptionAndDropsTheMessage() {
        DATABASE.execute("CREATE TABLE parent (id int PRIMARY KEY)");
        DATABASE.execute("CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
        assertThatThrownBy(() -> outbox.transaction(DATABASE.pool(), tx -> {
                    outbox.enqueue(tx, message("dropped"));
                    try (Statement statement = tx.createStatement()) {
                        return statement.executeUpdate("INSERT INTO child VALUES (1)");
                    }
                }))
                .isInstanceOfSatisfying(OutboxException.class, e -> {
                    assertThat(e.sqlState()).isEqualTo("23503");
                    assertThat(e.isRetryable())
                            .as("a constraint would fail again")
                            .isFalse();
                    assertThat(e).hasMessageStartingWith("the commit failed").hasMessageNotContaining("\n");
                });

        outbox.wakeUp();
        pollers.assertNothingIsDelivered();
    }

    @Test
    void aDatabaseThatCannotBeReachedIsAnOutboxException() {
        PGSimpleDataSource unreachable = new PGSimpleDataSource();
        unreachable.setUrl("jdbc:postgresql://localhost:1/none");

        assertThatThrownBy(() -> outbox.transaction(unreachable, tx -> 1))
                .isInstanceOfSatisfying(
                        OutboxException.class, e -> assertThat(e.isRetryable()).isTrue())
                .hasMessageStartingWith("the transaction could not be opened");
    }

    @Test
    void aBoundOutboxEnqueuesInTheCurrentTransactionAndWakesAfterItsCommit() throws SQLException {
        try (Connection tx = DATABASE.pool().getConnection()) {
            tx.setAutoCommit(false);
            HookedTransaction current = new HookedTransaction(tx);
            BoundOutbox bound = outbox.in(current);

            assertThat(bound.enqueue(message("a")).stored()).hasSize(1);
            assertThat(bound.enqueueAll(List.of(message("b"), message("c"))).stored())
                    .hasSize(2);
            tx.commit();
            pollers.assertNothingIsDelivered();
            current.commit();
        }

        pollers.assertDelivered("a", "b", "c");
    }

    @Test
    void aBoundOutboxThrowsOnThatThereIsNoTransaction() {
        BoundOutbox bound = outbox.in(new CurrentTransaction() {
            @Override
            public Connection connection() {
                throw new IllegalStateException("no transaction");
            }

            @Override
            public void afterCompletion(Consumer<Completion> action) {
                throw new AssertionError("nothing was enqueued");
            }
        });

        assertThatThrownBy(() -> bound.enqueue(message("a")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no transaction");
    }

    @Test
    void anOutboxThatDoesNotWakeLocallyNeverDoes() throws SQLException {
        Outbox quiet = pollers.start(PostgresOutbox.builder(DATABASE.pool()).wakesLocally(false));

        quiet.transaction(DATABASE.pool(), tx -> quiet.enqueue(tx, message("a")));
        try (Connection tx = quiet.waking(DATABASE.pool()).getConnection()) {
            tx.setAutoCommit(false);
            quiet.enqueue(tx, message("b"));
            tx.commit();
        }
        quiet.wakeUp();
        pollers.assertNothingIsDelivered();

        pollers.wakeUp();
        pollers.assertDelivered("a", "b");
    }

    @Test
    void aClosedPollerIsNotWoken() throws SQLException {
        pollers.close();

        outbox.transaction(DATABASE.pool(), tx -> outbox.enqueue(tx, message("a")));

        pollers.assertNothingIsDelivered();
    }
}
