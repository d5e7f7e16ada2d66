package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Collections;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the library itself does in the transaction of a handler. */
class HandlerTransactionIT {
    private static final int MESSAGES = 10;

    private OutboxDatabase database;
    private String table;
    private Connection only;
    private RecordedConnection recorded;

    @BeforeEach
    void createDatabase() throws SQLException {
        database = new OutboxDatabase();
        table = database.newTable();
        only = database.pool().getConnection();
        recorded = new RecordedConnection(only);
    }

    @AfterEach
    void dropDatabase() throws SQLException {
        only.close();
        database.close();
    }

    @Test
    void aSettleIsOneStatementAndOneCommit() throws SQLException {
        enqueue();

        poll(tx -> {
            recorded.executed().clear();
            recorded.ended().clear();
        });

        assertThat(recorded.executed()).singleElement().asString().contains("UPDATE");
        assertThat(recorded.ended())
                .containsSubsequence("commit", "setAutoCommit")
                .hasSize(3); // a rollback of nothing
    }

    @Test
    void aSettleIsPlannedOncePerConnection() throws SQLException {
        enqueue();

        poll(tx -> {});

        try (Statement statement = only.createStatement();
                var settles = statement.executeQuery("SELECT sum(generic_plans), sum(custom_plans)"
                        + " FROM pg_prepared_statements WHERE statement LIKE '%UPDATE%status = 2%'"
                        + " OR statement LIKE '%UPDATE%\"status\" = 2%'")) {
            settles.next();
            assertThat(settles.getInt(1)).isEqualTo(MESSAGES);
            assertThat(settles.getInt(2)).isZero();
        }
    }

    @Test
    void theStatementsOfAHandlerRunUnderItsOwnSettings() throws SQLException {
        enqueue();

        poll(tx -> assertThat(setting(tx, "enable_seqscan")).isEqualTo("on"));

        assertThat(database.statuses(table)).isEqualTo(Map.of(Status.DONE, (long) MESSAGES));
        assertThat(setting(only, "enable_seqscan")).isEqualTo("on");
    }

    /** As a pooler does that knows nothing of prepared statements. */
    @Test
    void aPreparedSettleThatTheServerHasForgottenIsPreparedAnew() throws SQLException {
        enqueue();
        AtomicInteger calls = new AtomicInteger();

        poll(tx -> {
            if (calls.incrementAndGet() == 3) {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("DO $$ BEGIN EXECUTE 'DEALLOCATE ALL'; END $$");
                }
            }
        });

        assertThat(calls).hasValue(MESSAGES);
        assertThat(database.statuses(table)).isEqualTo(Map.of(Status.DONE, MESSAGES - 1L, Status.READY, 1L));
    }

    private interface Handler {
        void handle(Connection tx) throws SQLException;
    }

    private void poll(Handler handler) {
        PollerBuilder builder = PostgresOutbox.builder(new SingleConnection(recorded.connection()))
                .table(table)
                .build()
                .poller()
                .retry(new RetryPolicy(Duration.ofHours(1), Duration.ofHours(1), 5))
                .inTransaction((tx, item) -> handler.handle(tx));
        try (Poller poller = builder.build()) {
            assertThat(poller.pollOnce()).isEqualTo(MESSAGES);
        }
    }

    private void enqueue() {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        database.commit(
                outbox, Collections.nCopies(MESSAGES, Message.to("orders").payload("{}")));
    }

    private static String setting(Connection connection, String name) throws SQLException {
        try (Statement statement = connection.createStatement();
                var row = statement.executeQuery("SHOW " + name)) {
            row.next();
            return row.getString(1);
        }
    }
}
