package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.postgres.WorkerMain.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Databases that go away, and pollers that are closed. */
@SuppressWarnings("try") // a poller works in the background of its block
class PollerLifecycleIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final OutboxDatabase database = new OutboxDatabase();

    private final Queue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private String table;
    private PostgresOutbox outbox;

    @BeforeEach
    void createTable() {
        table = database.newTable();
        outbox = PostgresOutbox.builder(database.pool()).table(table).build();
    }

    @Test
    void aDatabaseThatIsDownAtStartIsWaitedFor() throws Exception {
        database.commit(outbox, messages(10));
        try (TcpProxy network = new TcpProxy(database.server().jdbcUrl());
                HikariDataSource pool = pool(network)) {
            PostgresOutbox remote = PostgresOutbox.builder(pool).table(table).build();
            network.cut();
            try (Poller poller = quick(remote).to(this::take).start()) {
                awaitEvents(OutboxEvent.PollFailed.class, 2);
                assertThat(poller.isRunning()).isTrue();
                network.restore();
                awaitDone(10);
            }
        }
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
    }

    @Test
    void aDatabaseThatGoesAwayForAWhileCostsNothingIfTheLeaseOutlastsIt() throws Exception {
        database.commit(outbox, messages(10));
        CountDownLatch begun = new CountDownLatch(4);
        CountDownLatch go = new CountDownLatch(1);
        try (TcpProxy network = new TcpProxy(database.server().jdbcUrl());
                HikariDataSource pool = pool(network)) {
            PostgresOutbox remote = PostgresOutbox.builder(pool).table(table).build();
            try (Poller poller = quick(remote)
                    .to(item -> {
                        begun.countDown();
                        go.await();
                        take(item);
                    })
                    .start()) {
                begun.await();
                network.cut();
                go.countDown();
                awaitEvents(OutboxEvent.PollFailed.class, 2);
                assertThat(database.count(table, "status = 1")).isEqualTo(10);
                network.restore();
                awaitDone(10);

                database.commit(outbox, message("later"));
                awaitDone(11);
            }
        }
        assertThat(delivered).hasSize(11);
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
    }

    @Test
    void backendsThatAreTerminatedInFlightLoseNothing() {
        database.commit(outbox, messages(3_000));
        try (HikariDataSource pool = database.pool(config -> {
            config.setConnectionInitSql("SET application_name = '" + table + "'");
            config.setMaximumPoolSize(4);
        })) {
            PostgresOutbox victim = PostgresOutbox.builder(pool).table(table).build();
            try (Poller poller = quick(victim)
                    .batchSize(20)
                    .lease(Duration.ofMillis(500))
                    .to(this::take)
                    .start()) {
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(50)).until(() -> {
                    database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            + " WHERE application_name = '" + table + "'");
                    return events.stream()
                                    .filter(OutboxEvent.PollFailed.class::isInstance)
                                    .count()
                            >= 3;
                });
                awaitDone(3_000);
            }
        }
        assertThat(delivered).hasSize(3_000);
    }

    @Test
    void closingGivesBackAtOnceWhatNobodyHasBegun() throws Exception {
        List<Message> messages = new ArrayList<>(messages(20));
        for (int i = 0; i < 20; i++) {
            messages.add(message("k-" + i).key("k"));
        }
        database.commit(outbox, messages);
        CountDownLatch begun = new CountDownLatch(4);
        CountDownLatch go = new CountDownLatch(1);
        Poller poller = quick(outbox)
                .lease(Duration.ofDays(1))
                .to(item -> {
                    begun.countDown();
                    go.await();
                    take(item);
                })
                .start();
        begun.await();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(poller::close);

        // the run under way keeps its rest until its delivery ends
        await().atMost(PATIENCE).until(() -> database.count(table, "status = 0 AND attempt_count = 0") >= 16);
        assertThat(closing).isNotDone();
        go.countDown();
        closing.get(2, TimeUnit.MINUTES);

        assertThat(database.statuses(table)).isEqualTo(Map.of(Status.DONE, 4L, Status.READY, 36L));
        assertThat(database.count(table, "status = 0 AND (attempt_count <> 0 OR owner_token IS NOT NULL)"))
                .isZero();
        assertThat(delivered).hasSize(4);
        try (Poller next = quick(outbox).to(this::take).start()) {
            awaitDone(40);
        }
        assertThat(delivered).hasSize(40);
    }

    @ParameterizedTest
    @CsvSource({"10", "1500"})
    void closingWithoutADrainTimeoutInterruptsAndGivesEverythingBack(int batchSize) throws Exception {
        database.commit(outbox, messages(2 * batchSize));
        CountDownLatch begun = new CountDownLatch(4);
        Poller poller = quick(outbox)
                .batchSize(batchSize)
                .lease(Duration.ofDays(1))
                .drainTimeout(Duration.ZERO)
                .to(item -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                })
                .start();
        begun.await();
        await().atMost(PATIENCE).until(() -> database.count(table, "status = 1") == 2 * batchSize);

        poller.close();

        assertThat(database.statuses(table)).isEqualTo(Map.of(Status.READY, 2L * batchSize));
        assertThat(database.count(table, "attempt_count = 0")).isEqualTo(2 * batchSize - 4);
        assertThat(database.count(table, "attempt_count = 1")).isEqualTo(4);
    }

    @Test
    void aTerminatedJvmThatClosesItsPollerGivesBackWhatItDidNotDeliver() {
        List<Message> messages = new ArrayList<>(messages(5));
        for (int i = 0; i < 5; i++) {
            messages.add(message("k-" + i).key("k"));
        }
        database.commit(outbox, messages);
        try (WorkerProcess worker = WorkerProcess.start(
                database, table, new WorkerMain.Settings(Mode.HANG_IN_DELIVERY, Duration.ofDays(1)))) {
            worker.await("delivering", 1);
            worker.terminate();
            assertThat(worker.awaitEnd()).isEqualTo(128 + 15);
        }

        assertThat(database.statuses(table)).isEqualTo(Map.of(Status.READY, 10L));
        assertThat(database.count(table, "attempt_count = 0")).isEqualTo(9);
        assertThat(database.count(table, "attempt_count = 1")).isEqualTo(1);
    }

    private static HikariDataSource pool(TcpProxy network) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(network.jdbcUrl());
        config.setMinimumIdle(0);
        config.setConnectionTimeout(250);
        return new HikariDataSource(config);
    }

    private PollerBuilder quick(PostgresOutbox outbox) {
        return outbox.poller()
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .lease(Duration.ofSeconds(20))
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(5), 3))
                .listener(events::add);
    }

    private void take(WorkItem item) {
        delivered.add(item.messageId());
    }

    private void awaitDone(long count) {
        await().atMost(PATIENCE).until(() -> database.statuses(table).equals(Map.of(Status.DONE, count)));
    }

    private void awaitEvents(Class<? extends OutboxEvent> kind, int count) {
        await().atMost(PATIENCE)
                .until(() -> events.stream().filter(kind::isInstance).count() >= count);
    }

    private static Message message(String id) {
        return Message.to("lifecycle").id(id).payload("x");
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(message("free-" + i));
        }
        return messages;
    }
}
