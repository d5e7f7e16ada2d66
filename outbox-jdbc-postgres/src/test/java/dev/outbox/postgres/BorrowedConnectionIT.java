package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Trap 10: the library's own connections are READ COMMITTED, and go back to the pool as they came. */
class BorrowedConnectionIT {
    private static final Duration LIMIT = Duration.ofSeconds(7);

    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final int READ_COMMITTED = Connection.TRANSACTION_READ_COMMITTED;
    private static final int REPEATABLE_READ = Connection.TRANSACTION_REPEATABLE_READ;

    /** What a pool hands out again and again: closing it gives it back. */
    private Connection pooled;

    private int givenBack;

    @BeforeEach
    void connect() throws SQLException {
        pooled = DATABASE.server().dataSource().getConnection();
    }

    @AfterEach
    void disconnect() throws SQLException {
        pooled.close();
    }

    /** A pool that resets nothing, so that it shows what was left behind. */
    private DataSource carelessPool() {
        Connection kept = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("close")) {
                        givenBack++;
                        return null;
                    }
                    try {
                        return method.invoke(pooled, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        return (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> method.getName().equals("getConnection") ? kept : null);
    }

    @ParameterizedTest
    @CsvSource({"true, 2", "true, 4", "false, 2", "false, 4", "true, 8", "false, 8"})
    void aBorrowedConnectionGoesBackAsItCame(boolean autoCommit, int isolation) throws SQLException {
        pooled.setTransactionIsolation(isolation);
        pooled.setAutoCommit(autoCommit);
        Connections connections = new Connections(carelessPool());
        connections.learnDefaults(pooled);

        try (BorrowedConnection borrowed = connections.autoCommitting(LIMIT)) {
            assertThat(borrowed.connection().getAutoCommit()).isTrue();
            assertThat(borrowed.connection().getTransactionIsolation()).isEqualTo(READ_COMMITTED);
        }
        assertThat(pooled.getAutoCommit()).isEqualTo(autoCommit);
        assertThat(pooled.getTransactionIsolation()).isEqualTo(isolation);

        try (BorrowedConnection borrowed = connections.transactional(LIMIT)) {
            assertThat(borrowed.connection().getAutoCommit()).isFalse();
            assertThat(borrowed.connection().getTransactionIsolation()).isEqualTo(READ_COMMITTED);
        }
        assertThat(pooled.getAutoCommit()).isEqualTo(autoCommit);
        assertThat(pooled.getTransactionIsolation()).isEqualTo(isolation);
        assertThat(givenBack).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"0, 7000", "9000, 7000", "2000, 2000"})
    void aConnectionWaitsForTheNetworkNoLongerThanItMay(int before, int during) throws SQLException {
        pooled.setNetworkTimeout(Runnable::run, before);
        Connections connections = new Connections(carelessPool());

        try (BorrowedConnection borrowed = connections.autoCommitting(LIMIT)) {
            assertThat(borrowed.connection().getNetworkTimeout()).isEqualTo(during);
        }
        assertThat(pooled.getNetworkTimeout()).isEqualTo(before);

        try (BorrowedConnection borrowed = connections.transactional(LIMIT)) {
            assertThat(borrowed.connection().getNetworkTimeout())
                    .as("in a handler's hands")
                    .isEqualTo(before);
            borrowed.commit();
        }
        assertThat(pooled.getNetworkTimeout()).isEqualTo(before);
    }

    @Test
    void closingRollsBackWhatWasNotCommitted() throws SQLException {
        DATABASE.execute("CREATE TABLE written (id int)");
        Connections connections = new Connections(carelessPool());
        try (BorrowedConnection borrowed = connections.transactional(LIMIT);
                Statement write = borrowed.connection().createStatement()) {
            write.execute("INSERT INTO written VALUES (1)");
            borrowed.commit();
            write.execute("INSERT INTO written VALUES (2)");
        }

        assertThat(DATABASE.query("SELECT id FROM written")).containsExactly("1");
        assertThat(pooled.getAutoCommit()).isTrue();
    }

    @Test
    void aFailedTransactionGoesBackClean() throws SQLException {
        pooled.setTransactionIsolation(REPEATABLE_READ);
        Connections connections = new Connections(carelessPool());
        connections.learnDefaults(pooled);
        try (BorrowedConnection borrowed = connections.transactional(LIMIT);
                Statement broken = borrowed.connection().createStatement()) {
            broken.execute("SELECT 1 / 0");
        } catch (SQLException divisionByZero) {
            assertThat(divisionByZero.getSQLState()).isEqualTo("22012");
        }

        assertThat(pooled.getTransactionIsolation()).isEqualTo(REPEATABLE_READ);
        assertThat(pooled.getAutoCommit()).isTrue();
    }

    @Test
    void aConnectionThatBrokeIsGivenBackWithoutFurtherAdo() throws SQLException {
        Connections connections = new Connections(carelessPool());
        try (BorrowedConnection borrowed = connections.transactional(LIMIT)) {
            pooled.close();
            assertThat(borrowed.connection().isClosed()).isTrue();
        }

        assertThat(givenBack).isOne();
    }

    @Test
    void aPoolOfRepeatableReadServesPollersAndStaysSo() throws SQLException {
        String table = DATABASE.newTable();
        HikariConfig config = new HikariConfig();
        config.setDataSource(DATABASE.server().dataSource());
        config.setMaximumPoolSize(1);
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        config.setAutoCommit(false);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            Outbox outbox = PostgresOutbox.builder(pool).table(table).build();
            DATABASE.commit(
                    outbox, Message.to("t").payload("a"), Message.to("t").payload("b"));
            List<String> seen = new ArrayList<>();

            try (Poller poller = outbox.poller()
                    .inTransaction((connection, item) -> {
                        assertThat(connection.getTransactionIsolation()).isEqualTo(READ_COMMITTED);
                        seen.add(item.message().payload());
                    })
                    .concurrency(1)
                    .build()) {
                poller.pollOnce();
            }
            outbox.purge(Duration.ZERO);

            assertThat(seen).containsExactly("a", "b");
            try (Connection after = pool.getConnection()) {
                assertThat(after.getTransactionIsolation()).isEqualTo(REPEATABLE_READ);
                assertThat(after.getAutoCommit()).isFalse();
            }
        }
        assertThat(DATABASE.count(table, "true")).isZero();
    }

    @Test
    void fromTheFirstSerializationFailureOnTheIsolationIsSet() throws SQLException {
        Connections connections = new Connections(carelessPool());
        connections.learnDefaults(pooled);
        pooled.setTransactionIsolation(REPEATABLE_READ);

        connections.distrustDefaults();

        try (BorrowedConnection borrowed = connections.autoCommitting(LIMIT)) {
            assertThat(borrowed.connection().getTransactionIsolation()).isEqualTo(READ_COMMITTED);
        }
        assertThat(pooled.getTransactionIsolation()).isEqualTo(REPEATABLE_READ);
    }

    @Test
    void whatWasPreparedForAColumnOfAnotherTypeIsPreparedAnew() {
        String table = DATABASE.newTable();
        Outbox outbox = PostgresOutbox.builder(carelessPool()).table(table).build();
        Source source = outbox.source();
        ClaimRequest request = new ClaimRequest(10, Duration.ofHours(1), 3, Set.of(), "test");
        for (int i = 0; i < 4; i++) {
            source.claim(request);
        }
        DATABASE.execute("ALTER TABLE " + table + " ALTER COLUMN tenant_id TYPE varchar(300)");
        DATABASE.commit(
                outbox,
                Message.to("t").payload("a"),
                Message.to("t").key("k").payload("b"),
                Message.to("t").dueIn(Duration.ofMillis(1)).payload("c"));

        List<String> claimed = new ArrayList<>();
        await().until(() -> {
            source.claim(request)
                    .items()
                    .forEach(item -> claimed.add(item.message().payload()));
            return claimed.size() == 3;
        });
        assertThat(claimed).containsExactlyInAnyOrder("a", "b", "c");
    }

    @Test
    void aReadCommittedPoolIsAskedForItsIsolationOnce() throws SQLException {
        String table = DATABASE.newTable();
        RecordedConnection recorded = new RecordedConnection(pooled);
        Connections connections = new Connections(carelessPool());
        connections.learnDefaults(recorded.connection());
        pooled = recorded.connection();

        try (BorrowedConnection borrowed = connections.autoCommitting(LIMIT);
                Statement statement = borrowed.connection().createStatement()) {
            statement.execute("SELECT 1 FROM " + table);
        }

        assertThat(recorded.executed()).containsExactly("SELECT 1 FROM " + table);
        assertThat(recorded.ended()).isEmpty();
    }
}
