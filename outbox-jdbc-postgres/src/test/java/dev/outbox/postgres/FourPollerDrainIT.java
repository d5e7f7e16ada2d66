package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Ack;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Four pollers drain one table while it is filled; what came out is what was committed. */
class FourPollerDrainIT {
    private static final int MANY = Boolean.getBoolean("outbox.full") ? 1_000_000 : 100_000;

    private static final Duration PATIENCE = Duration.ofSeconds(MANY > 100_000 ? 900 : 60);
    private static final int FEW = 5_000;

    @RegisterExtension
    static final OutboxDatabase database = new OutboxDatabase();

    private final Deliveries deliveries = new Deliveries();
    private final Queue<OutboxEvent> troubles = new ConcurrentLinkedQueue<>();
    private final List<Poller> pollers = new ArrayList<>();
    private String table;

    @BeforeEach
    void createTable() {
        table = database.newTable();
    }

    @AfterEach
    void closePollers() {
        pollers.forEach(Poller::close);
    }

    @Test
    void hundredThousandMessagesAreEachDeliveredOnce() throws Exception {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        start(outbox, poller -> poller.to(this::take));

        Set<String> committed = produce(outbox, MANY, 500);

        awaitDone(MANY);
        deliveries.assertExactlyOnce(committed);
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
        assertThat(troubles).isEmpty();
    }

    @Test
    void deliveredRowsAreDeletedIfAsked() throws Exception {
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(table)
                .ack(Ack.DELETE)
                .build();
        start(outbox, poller -> poller.to(this::take));

        Set<String> committed = produce(outbox, FEW, 50);

        await().atMost(PATIENCE).until(() -> database.statuses(table).isEmpty());
        deliveries.assertExactlyOnce(committed);
        assertThat(troubles).isEmpty();
    }

    @Test
    void aDestinationThatFailsNowAndThenGetsEveryMessageInTheEnd() throws Exception {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        start(outbox, poller -> poller.to(item -> deliveries.deliver(item, FourPollerDrainIT::failNowAndThen)));

        Set<String> committed = produce(outbox, FEW, 50);

        awaitDone(FEW);
        deliveries.assertExactlyOnce(committed);
        assertThat(database.count(table, "attempt_count > 1")).isPositive();
    }

    @Test
    void aBatchDestinationThatFailsNowAndThenGetsEveryMessageInTheEnd() throws Exception {
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        start(outbox, poller -> poller.toBatch(this::takeAll));

        Set<String> committed = produce(outbox, FEW, 50);

        awaitDone(FEW);
        deliveries.assertExactlyOnce(committed);
        assertThat(database.count(table, "attempt_count > 1")).isPositive();
    }

    @Test
    void effectsInTheTransactionOfTheSettleHappenOnceHoweverOftenTheHandlerFails() throws Exception {
        database.execute("CREATE TABLE " + table + "_effects (message_id text NOT NULL)");
        Outbox outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        start(
                outbox,
                poller -> poller.inTransaction((tx, item) -> deliveries.deliver(item, () -> {
                    writeEffect(tx, item);
                    failNowAndThen();
                })));

        Set<String> committed = produce(outbox, FEW, 50);

        awaitDone(FEW);
        deliveries.assertExactlyOnce(committed);
        assertThat(database.query("SELECT message_id FROM " + table + "_effects"))
                .hasSize(FEW)
                .hasSameElementsAs(committed);
        assertThat(database.count(table, "attempt_count > 1")).isPositive();
    }

    @Test
    void twoConnectionsAreEnoughForPollersAndProducersTogether() throws Exception {
        try (HikariDataSource two = database.pool(config -> config.setMaximumPoolSize(2))) {
            Outbox outbox = PostgresOutbox.builder(two).table(table).build();
            start(outbox, poller -> poller.to(this::take));

            Set<String> committed = produce(two, outbox, FEW, 50);

            awaitDone(FEW);
            closePollers();
            deliveries.assertExactlyOnce(committed);
            assertThat(troubles).isEmpty();
        }
    }

    @Test
    void twoConnectionsAreEnoughForHandlersInATransactionToo() throws Exception {
        database.execute("CREATE TABLE " + table + "_effects (message_id text NOT NULL)");
        try (HikariDataSource two = database.pool(config -> config.setMaximumPoolSize(2))) {
            Outbox outbox = PostgresOutbox.builder(two).table(table).build();
            start(
                    outbox,
                    poller ->
                            poller.inTransaction((tx, item) -> deliveries.deliver(item, () -> writeEffect(tx, item))));

            Set<String> committed = produce(two, outbox, 1_000, 20);

            awaitDone(1_000);
            closePollers();
            deliveries.assertExactlyOnce(committed);
            assertThat(database.query("SELECT message_id FROM " + table + "_effects"))
                    .hasSize(1_000)
                    .hasSameElementsAs(committed);
            assertThat(troubles).isEmpty();
        }
    }

    private Set<String> produce(Outbox outbox, int messages, int keys) throws Exception {
        return produce(database.pool(), outbox, messages, keys);
    }

    private Set<String> produce(HikariDataSource pool, Outbox outbox, int messages, int keys) throws Exception {
        try (Producers producers = new Producers(pool, outbox, 3, messages, keys)) {
            Set<String> committed = producers.committed();
            await().atMost(PATIENCE).until(() -> deliveries.distinct() >= committed.size());
            assertThat(producers.rolledBack()).isNotEmpty();
            return committed;
        }
    }

    private void start(Outbox outbox, Function<PollerBuilder, PollerBuilder> destination) {
        for (int i = 0; i < 4; i++) {
            pollers.add(destination
                    .apply(outbox.poller())
                    .idle(Duration.ofMillis(10), Duration.ofMillis(100))
                    .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(10), 100))
                    .listener(this::watch)
                    .start());
        }
    }

    private void watch(OutboxEvent event) {
        if (event instanceof OutboxEvent.PollFailed
                || event instanceof OutboxEvent.Fenced
                || event instanceof OutboxEvent.LeaseLost
                || event instanceof OutboxEvent.Released
                || event instanceof OutboxEvent.Dead) {
            troubles.add(event);
        }
    }

    private void awaitDone(long count) {
        await().atMost(PATIENCE).until(() -> database.statuses(table).equals(Map.of(Status.DONE, count)));
    }

    private void take(WorkItem item) throws Exception {
        deliveries.deliver(item, () -> {});
    }

    private List<Outcome> takeAll(List<WorkItem> items) {
        List<Outcome> outcomes = new ArrayList<>();
        for (WorkItem item : items) {
            try {
                deliveries.deliver(item, FourPollerDrainIT::failNowAndThen);
                outcomes.add(Outcome.done());
            } catch (Exception e) {
                outcomes.add(Outcome.retry(e));
            }
        }
        return outcomes;
    }

    private static void failNowAndThen() {
        if (ThreadLocalRandom.current().nextInt(20) == 0) {
            throw new IllegalStateException("the broker is busy");
        }
    }

    private void writeEffect(Connection tx, WorkItem item) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO " + table + "_effects VALUES (?)")) {
            insert.setString(1, item.messageId());
            insert.executeUpdate();
        }
    }
}
