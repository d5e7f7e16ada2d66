package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Pools and databases whose connections come in another state than the outbox needs. */
class DefaultIsolationIT {
    private static final int MESSAGES = 600;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Queue<OutboxEvent> troubles = new ConcurrentLinkedQueue<>();
    private final Deliveries deliveries = new Deliveries();
    private OutboxDatabase database;
    private String table;

    @BeforeEach
    void createDatabase() {
        database = new OutboxDatabase();
        table = database.newTable();
        database.execute("CREATE TABLE " + table + "_effects (message_id text NOT NULL)");
    }

    @AfterEach
    void dropDatabase() {
        database.close();
    }

    @ParameterizedTest
    @CsvSource({
        "TRANSACTION_READ_COMMITTED, false",
        "TRANSACTION_REPEATABLE_READ, true",
        "TRANSACTION_REPEATABLE_READ, false",
        "TRANSACTION_SERIALIZABLE, true",
        "TRANSACTION_SERIALIZABLE, false"
    })
    void aPoolWithDefaultsOfItsOwnServesPollersAndGetsItsConnectionsBackUnchanged(String isolation, boolean autoCommit)
            throws Exception {
        try (HikariDataSource pool = database.pool(config -> {
            config.setTransactionIsolation(isolation);
            config.setAutoCommit(autoCommit);
        })) {
            drain(pool, Connection.class.getField(isolation).getInt(null), autoCommit);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"repeatable read", "serializable"})
    void aDatabaseWithADefaultOfItsOwnServesPollers(String isolation) throws Exception {
        database.execute("DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L',"
                + " current_database(), '" + isolation + "'); END $$");
        try (HikariDataSource pool = database.pool(config -> {})) {
            drain(
                    pool,
                    isolation.equals("serializable")
                            ? Connection.TRANSACTION_SERIALIZABLE
                            : Connection.TRANSACTION_REPEATABLE_READ,
                    true);
        }
    }

    @Test
    void aRoleWithADefaultOfItsOwnServesPollers() throws Exception {
        String role = table + "_" + Long.toHexString(System.nanoTime());
        database.execute("CREATE ROLE " + role + " LOGIN PASSWORD 'x'");
        try {
            database.execute("ALTER ROLE " + role + " SET default_transaction_isolation = 'repeatable read'");
            database.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO " + role);
            database.execute("GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO " + role);
            try (HikariDataSource pool = database.pool(config -> {
                config.setJdbcUrl(database.server().jdbcUrl().replaceAll("user=[^&]*", "user=" + role));
                config.setPassword("x");
            })) {
                drain(pool, Connection.TRANSACTION_REPEATABLE_READ, true);
            }
        } finally {
            database.execute("DROP OWNED BY " + role);
            database.execute("DROP ROLE " + role);
        }
    }

    @Test
    void aPollerSaysAtItsStartThatHandlersDoNotRunAtThePoolsIsolation() throws Exception {
        assertThat(warnings("TRANSACTION_SERIALIZABLE"))
                .singleElement()
                .asString()
                .contains("the pool's isolation is SERIALIZABLE, but the transactions of handlers are READ COMMITTED");
        assertThat(warnings("TRANSACTION_READ_COMMITTED")).isEmpty();
    }

    private List<String> warnings(String isolation) {
        try (HikariDataSource pool = database.pool(config -> config.setTransactionIsolation(isolation));
                CapturedLog log = new CapturedLog()) {
            PostgresOutbox.builder(pool)
                    .table(table)
                    .build()
                    .poller()
                    .inTransaction((tx, item) -> {})
                    .start()
                    .close();
            return log.warnings("isolation");
        }
    }

    /** The way out that the warning names. */
    @Test
    void aHandlerMayRaiseTheIsolationOfItsTransaction() throws Exception {
        try (HikariDataSource pool = database.pool(config -> {})) {
            Outbox outbox = PostgresOutbox.builder(pool).table(table).build();
            database.commit(outbox, Message.to("orders").payload("{}"));
            List<String> seen = new ArrayList<>();
            try (Poller poller = outbox.poller()
                    .inTransaction((tx, item) -> {
                        try (Statement statement = tx.createStatement()) {
                            statement.execute("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE");
                        }
                        seen.add(isolation(tx));
                    })
                    .build()) {
                poller.pollOnce();
            }
            try (Connection after = pool.getConnection()) {
                seen.add(isolation(after));
            }

            assertThat(seen).containsExactly("serializable", "read committed");
            assertThat(database.statuses(table)).isEqualTo(Map.of(Status.DONE, 1L));
        }
    }

    private static String isolation(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SHOW transaction_isolation")) {
            row.next();
            return row.getString(1);
        }
    }

    /** The outbox looked at the default when it was built; new connections come with another one. */
    @Test
    void aDefaultThatChangesLaterIsNoticed() throws Exception {
        try (HikariDataSource before = database.pool(config -> {});
                HikariDataSource after =
                        database.pool(config -> config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ"))) {
            AtomicReference<DataSource> pool = new AtomicReference<>(before);
            Outbox outbox = PostgresOutbox.builder(
                            ObservedDataSource.statementsOf(pool::get).dataSource())
                    .table(table)
                    .build();
            pool.set(after);

            Set<String> committed = run(outbox, before);

            deliveries.assertAtLeastOnce(committed);
        }
    }

    private void drain(DataSource pool, int isolation, boolean autoCommit) throws Exception {
        ObservedDataSource observed = ObservedDataSource.loansOf(pool);
        Outbox outbox =
                PostgresOutbox.builder(observed.dataSource()).table(table).build();

        Set<String> committed = run(outbox, database.pool());

        deliveries.assertExactlyOnce(committed);
        assertThat(troubles).isEmpty();
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
        assertThat(database.query("SELECT message_id FROM " + table + "_effects"))
                .hasSize(MESSAGES / 2)
                .doesNotHaveDuplicates();
        ObservedDataSource.State state = new ObservedDataSource.State(isolation, autoCommit);
        assertThat(observed.loans())
                .isNotEmpty()
                .allMatch(loan -> loan.equals(new ObservedDataSource.Loan(state, state)));
    }

    /** Several pollers that get in each other's way, half of the messages delivered in a transaction. */
    private Set<String> run(Outbox outbox, DataSource producing) throws Exception {
        List<Poller> pollers = new ArrayList<>();
        try (Producers plain = new Producers(producing, outbox, 2, MESSAGES / 2, 10)) {
            for (int i = 0; i < 3; i++) {
                pollers.add(poller(outbox)
                        .to(item -> deliveries.deliver(item, () -> {}))
                        .start());
            }
            Set<String> committed = plain.committed();
            awaitDone(MESSAGES / 2);
            pollers.forEach(Poller::close);
            try (Producers more = new Producers(producing, outbox, 2, MESSAGES / 2, 10)) {
                for (int i = 0; i < 3; i++) {
                    pollers.add(poller(outbox)
                            .inTransaction((tx, item) -> deliveries.deliver(item, () -> writeEffect(tx, item)))
                            .start());
                }
                committed.addAll(more.committed());
                awaitDone(MESSAGES);
            }
            return committed;
        } finally {
            pollers.forEach(Poller::close);
        }
    }

    private PollerBuilder poller(Outbox outbox) {
        return outbox.poller()
                .batchSize(10)
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(10), 100))
                .listener(this::watch);
    }

    private void awaitDone(long count) {
        await().atMost(PATIENCE).until(() -> database.statuses(table).equals(Map.of(Status.DONE, count)));
    }

    private void watch(OutboxEvent event) {
        if (event instanceof OutboxEvent.PollFailed
                || event instanceof OutboxEvent.Retried
                || event instanceof OutboxEvent.Fenced) {
            troubles.add(event);
        }
    }

    private void writeEffect(Connection tx, WorkItem item) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO " + table + "_effects VALUES (?)")) {
            insert.setString(1, item.messageId());
            insert.executeUpdate();
        }
    }
}
