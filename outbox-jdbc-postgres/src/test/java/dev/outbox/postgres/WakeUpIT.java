package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.BoundOutbox;
import dev.outbox.CurrentTransaction;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PSQLException;

/** What wakes a poller whose idle pause is an hour, and what does not. */
class WakeUpIT {
    private static final Duration HOUR = Duration.ofHours(1);

    /** How long nothing must happen for a poller to count as not woken. */
    private static final Duration QUIET = Duration.ofMillis(200);

    private static HikariDataSource dataSource;

    private final List<Poller> pollers = new ArrayList<>();
    private final BlockingQueue<String> delivered = new LinkedBlockingQueue<>();
    private final Outbox outbox = start(PostgresOutbox.builder(dataSource));
    private final DataSource waking = outbox.waking(dataSource);

    @BeforeAll
    static void createDatabase() {
        dataSource = EmbeddedDatabase.create().pool(6);
        OutboxMigrations.install(dataSource);
        execute("CREATE TABLE parent (id int PRIMARY KEY)");
        execute("CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED)");
    }

    /** Returns once the poller has claimed and sleeps: from then on only a wake-up makes it claim. */
    private Outbox start(PostgresOutbox.Builder builder) {
        execute("TRUNCATE outbox");
        Outbox started = builder.build();
        started.transaction(dataSource, tx -> started.enqueue(tx, message("started")));
        startPoller(started.poller());
        assertDelivered("started");
        return started;
    }

    private void startPoller(PollerBuilder poller) {
        pollers.add(poller.to(item -> delivered.add(item.payload()))
                .idle(HOUR, HOUR)
                .start());
    }

    @AfterEach
    void closePollers() {
        pollers.forEach(Poller::close);
    }

    @Test
    void anExplicitCallWakes() throws SQLException {
        commitUnnoticed("a");
        assertNothingIsDelivered();

        outbox.wakeUp();

        assertDelivered("a");
    }

    @Test
    void aCommitWakesEveryPollerOfTheOutbox() {
        closePollers();
        for (String topic : List.of("left", "right")) {
            outbox.transaction(
                    dataSource, tx -> outbox.enqueue(tx, Message.to(topic).payload("started")));
            startPoller(outbox.poller().topics(topic));
        }
        assertDelivered("started", "started");

        outbox.transaction(
                dataSource,
                tx -> outbox.enqueueAll(
                        tx,
                        List.of(
                                Message.to("left").payload("a"),
                                Message.to("right").payload("b"))));

        assertDelivered("a", "b");
    }

    @Test
    void aCommitOfTheHelperWakes() {
        String answer = outbox.transaction(dataSource, tx -> {
            outbox.enqueue(tx, message("a"));
            return "answer";
        });

        assertThat(answer).isEqualTo("answer");
        assertDelivered("a");
    }

    @Test
    void theHelperThrowsOnWhatTheWorkThrowsAndRollsBack() throws SQLException {
        commitUnnoticed("unnoticed");
        for (Exception thrown : List.of(
                new IOException("checked"), new SQLException("of a driver"), new IllegalStateException("unchecked"))) {
            assertThatThrownBy(() -> outbox.transaction(dataSource, tx -> {
                        outbox.enqueue(tx, message("dropped"));
                        throw thrown;
                    }))
                    .isSameAs(thrown);
        }

        assertNothingIsDelivered();
        outbox.wakeUp();
        assertDelivered("unnoticed");
        assertThat(delivered).isEmpty();
    }

    @Test
    void theHelperRollsBackOnAnError() {
        Error thrown = new AssertionError("of the work");

        assertThatThrownBy(() -> outbox.transaction(dataSource, tx -> {
                    outbox.enqueue(tx, message("dropped"));
                    throw thrown;
                }))
                .isSameAs(thrown);

        outbox.wakeUp();
        assertNothingIsDelivered();
    }

    @Test
    void theHelperGivesTheConnectionBackAsItCame() throws SQLException {
        for (boolean autoCommit : new boolean[] {true, false}) {
            try (Connection connection = dataSource.getConnection()) {
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
        assertThatThrownBy(() -> outbox.transaction(dataSource, tx -> {
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
        assertNothingIsDelivered();
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
    void aCommitOfAWakingConnectionWakes() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("a"));
            outbox.enqueueAll(tx, List.of(message("b"), message("c")));
            tx.commit();

            assertDelivered("a", "b", "c");
            outbox.enqueue(tx, message("d"));
            tx.commit();
            assertDelivered("d");
        }
    }

    @Test
    void aCommitThatEnqueuedNothingDoesNotWake() throws SQLException {
        commitUnnoticed("unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            tx.commit();
        }

        assertNothingIsDelivered();
    }

    @Test
    void turningAutoCommitOnCommitsAndWakes() throws SQLException {
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("a"));
            tx.setAutoCommit(true);
        }

        assertDelivered("a");
    }

    @Test
    void aRollbackDoesNotWakeAndForgets() throws SQLException {
        commitUnnoticed("unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("dropped"));
            tx.rollback();
            tx.commit();
        }

        assertNothingIsDelivered();
    }

    @Test
    void closingWithoutACommitDoesNotWake() throws SQLException {
        commitUnnoticed("unnoticed");
        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message("dropped"));
        }

        assertNothingIsDelivered();
        outbox.wakeUp();
        assertDelivered("unnoticed");
        assertNothingIsDelivered();
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

        assertDelivered("a");
        assertNothingIsDelivered();
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
        assertThat(waking.unwrap(HikariDataSource.class)).isSameAs(dataSource);
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
        assertThat(waking.equals(outbox.waking(dataSource))).isFalse();
        assertThat(waking.equals(dataSource)).isFalse();
        assertThat(waking.hashCode()).isEqualTo(waking.hashCode());
    }

    @Test
    void aBoundOutboxEnqueuesInTheCurrentTransactionAndWakesAfterItsCommit() throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            List<Consumer<CurrentTransaction.Completion>> afterCompletion = new ArrayList<>();
            BoundOutbox bound = outbox.in(new CurrentTransaction() {
                @Override
                public Connection connection() {
                    return tx;
                }

                @Override
                public void afterCompletion(Consumer<Completion> action) {
                    afterCompletion.add(action);
                }
            });

            assertThat(bound.enqueue(message("a")).stored()).hasSize(1);
            assertThat(bound.enqueueAll(List.of(message("b"), message("c"))).stored())
                    .hasSize(2);
            tx.commit();
            assertNothingIsDelivered();
            afterCompletion.forEach(action -> action.accept(CurrentTransaction.Completion.COMMITTED));
        }

        assertDelivered("a", "b", "c");
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
        Outbox quiet = start(PostgresOutbox.builder(dataSource).wakesLocally(false));

        quiet.transaction(dataSource, tx -> quiet.enqueue(tx, message("a")));
        try (Connection tx = quiet.waking(dataSource).getConnection()) {
            tx.setAutoCommit(false);
            quiet.enqueue(tx, message("b"));
            tx.commit();
        }
        quiet.wakeUp();
        assertNothingIsDelivered();

        pollers.forEach(Poller::wakeUp);
        assertDelivered("a", "b");
    }

    @Test
    void aClosedPollerIsNotWoken() throws SQLException {
        closePollers();

        outbox.transaction(dataSource, tx -> outbox.enqueue(tx, message("a")));

        assertNothingIsDelivered();
    }

    private static Message message(String payload) {
        return Message.to("orders.placed").payload(payload);
    }

    /** Only a wake-up that comes from elsewhere can bring this one out. */
    private void commitUnnoticed(String payload) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message(payload));
            tx.commit();
        }
    }

    private void assertDelivered(String... payloads) {
        List<String> found = new ArrayList<>();
        while (found.size() < payloads.length) {
            try {
                String next = delivered.poll(2, TimeUnit.MINUTES);
                assertThat(next).as("delivery after %s", found).isNotNull();
                found.add(next);
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while waiting for a delivery", e);
            }
        }
        assertThat(found).containsExactlyInAnyOrder(payloads);
        await().pollInterval(Duration.ofMillis(5))
                .until(() -> pollers.stream().filter(Poller::isRunning).allMatch(WakeUpIT::isAsleep));
    }

    /** A poller claims once more after a claim that found something; wait until it sleeps. */
    static boolean isAsleep(Poller poller) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("outbox-" + poller.name() + "-claim"))
                .flatMap(thread -> Stream.of(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals("dev.outbox.delivery.Signal")
                        && frame.getMethodName().equals("await"));
    }

    private void assertNothingIsDelivered() {
        await().during(QUIET).atMost(QUIET.multipliedBy(10)).until(delivered::isEmpty);
    }

    private static void execute(String sql) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed", e);
        }
    }
}
