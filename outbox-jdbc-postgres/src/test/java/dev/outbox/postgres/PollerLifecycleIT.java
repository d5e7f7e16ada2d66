package dev.outbox.postgres;

import static dev.outbox.postgres.QuickPollers.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.postgres.WorkerMain.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Databases that go away, and pollers that are closed. */
@SuppressWarnings("try") // a poller works in the background of its block
class PollerLifecycleIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final QuickPollers quick = new QuickPollers();
    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();

    @Test
    void aDatabaseThatIsDownAtStartIsWaitedFor() throws Exception {
        DATABASE.commit(outbox, messages(10));
        try (TcpProxy network = new TcpProxy(DATABASE.server().jdbcUrl());
                HikariDataSource pool = pool(network)) {
            Outbox remote = PostgresOutbox.builder(pool).table(table).build();
            network.cut();
            try (Poller poller = quick.of(remote).to(quick::take).start()) {
                awaitEvents(OutboxEvent.PollFailed.class, 2);
                assertThat(poller.isRunning()).isTrue();
                network.restore();
                awaitDone(10);
            }
        }
        assertThat(DATABASE.count(table, "attempt_count <> 1")).isZero();
    }

    @Test
    void aDatabaseThatGoesAwayForAWhileCostsNothingIfTheLeaseOutlastsIt() throws Exception {
        DATABASE.commit(outbox, messages(10));
        CountDownLatch begun = new CountDownLatch(4);
        CountDownLatch go = new CountDownLatch(1);
        try (TcpProxy network = new TcpProxy(DATABASE.server().jdbcUrl());
                HikariDataSource pool = pool(network)) {
            Outbox remote = PostgresOutbox.builder(pool).table(table).build();
            try (Poller poller = quick.of(remote)
                    .to(item -> {
                        begun.countDown();
                        go.await();
                        quick.take(item);
                    })
                    .start()) {
                begun.await();
                network.cut();
                go.countDown();
                awaitEvents(OutboxEvent.PollFailed.class, 2);
                assertThat(DATABASE.count(table, "status = 1")).isEqualTo(10);
                network.restore();
                awaitDone(10);

                DATABASE.commit(outbox, message("later"));
                awaitDone(11);
            }
        }
        assertThat(quick.delivered).hasSize(11);
        assertThat(DATABASE.count(table, "attempt_count <> 1")).isZero();
    }

    @Test
    void backendsThatAreTerminatedInFlightLoseNothing() {
        DATABASE.commit(outbox, messages(3_000));
        try (HikariDataSource pool = DATABASE.pool(config -> {
            config.setConnectionInitSql("SET application_name = '" + table + "'");
            config.setMaximumPoolSize(4);
        })) {
            Outbox victim = PostgresOutbox.builder(pool).table(table).build();
            try (Poller poller = quick.of(victim)
                    .batchSize(20)
                    .lease(Duration.ofMillis(500))
                    .to(quick::take)
                    .start()) {
                await().atMost(PATIENCE).pollInterval(Duration.ofMillis(50)).until(() -> {
                    DATABASE.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                            + " WHERE application_name = '" + table + "'");
                    return quick.events.stream()
                                    .filter(OutboxEvent.PollFailed.class::isInstance)
                                    .count()
                            >= 3;
                });
                awaitDone(3_000);
            }
        }
        assertThat(quick.delivered).hasSize(3_000);
    }

    @Test
    void closingGivesBackAtOnceWhatNobodyHasBegun() throws Exception {
        List<Message> messages = new ArrayList<>(messages(20));
        for (int i = 0; i < 20; i++) {
            messages.add(message("k-" + i).key("k"));
        }
        DATABASE.commit(outbox, messages);
        CountDownLatch begun = new CountDownLatch(4);
        CountDownLatch go = new CountDownLatch(1);
        Poller poller = quick.of(outbox)
                .lease(Duration.ofDays(1))
                .to(item -> {
                    begun.countDown();
                    go.await();
                    quick.take(item);
                })
                .start();
        begun.await();
        CompletableFuture<Void> closing = CompletableFuture.runAsync(poller::close);

        // the run under way keeps its rest until its delivery ends
        await().atMost(PATIENCE).until(() -> DATABASE.count(table, "status = 0 AND attempt_count = 0") >= 16);
        assertThat(closing).isNotDone();
        go.countDown();
        closing.get(2, TimeUnit.MINUTES);

        assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.DONE, 4L, Status.READY, 36L));
        assertThat(DATABASE.count(table, "status = 0 AND (attempt_count <> 0 OR owner_token IS NOT NULL)"))
                .isZero();
        assertThat(quick.delivered).hasSize(4);
        try (Poller next = quick.of(outbox).to(quick::take).start()) {
            awaitDone(40);
        }
        assertThat(quick.delivered).hasSize(40);
    }

    @ParameterizedTest
    @CsvSource({"10", "1500"})
    void closingWithoutADrainTimeoutInterruptsAndGivesEverythingBack(int batchSize) throws Exception {
        DATABASE.commit(outbox, messages(2 * batchSize));
        CountDownLatch begun = new CountDownLatch(4);
        Poller poller = quick.of(outbox)
                .batchSize(batchSize)
                .lease(Duration.ofDays(1))
                .drainTimeout(Duration.ZERO)
                .to(item -> {
                    begun.countDown();
                    new CountDownLatch(1).await();
                })
                .start();
        begun.await();
        await().atMost(PATIENCE).until(() -> DATABASE.count(table, "status = 1") == 2 * batchSize);

        poller.close();

        assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.READY, 2L * batchSize));
        assertThat(DATABASE.count(table, "attempt_count = 0")).isEqualTo(2 * batchSize - 4);
        assertThat(DATABASE.count(table, "attempt_count = 1")).isEqualTo(4);
    }

    @Test
    void aTerminatedJvmThatClosesItsPollerGivesBackWhatItDidNotDeliver() {
        List<Message> messages = new ArrayList<>(messages(5));
        for (int i = 0; i < 5; i++) {
            messages.add(message("k-" + i).key("k"));
        }
        DATABASE.commit(outbox, messages);
        try (WorkerProcess worker = WorkerProcess.start(
                DATABASE, table, new WorkerMain.Settings(Mode.HANG_IN_DELIVERY, Duration.ofDays(1)))) {
            worker.await("delivering", 1);
            worker.terminate();
            assertThat(worker.awaitEnd()).isEqualTo(128 + 15);
        }

        assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.READY, 10L));
        assertThat(DATABASE.count(table, "attempt_count = 0")).isEqualTo(9);
        assertThat(DATABASE.count(table, "attempt_count = 1")).isEqualTo(1);
    }

    private static HikariDataSource pool(TcpProxy network) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(network.jdbcUrl());
        config.setMinimumIdle(0);
        config.setConnectionTimeout(250);
        return new HikariDataSource(config);
    }

    private void awaitDone(long count) {
        await().atMost(PATIENCE).until(() -> DATABASE.statuses(table).equals(Map.of(Status.DONE, count)));
    }

    private void awaitEvents(Class<? extends OutboxEvent> kind, int count) {
        await().atMost(PATIENCE)
                .until(() -> quick.events.stream().filter(kind::isInstance).count() >= count);
    }

    private static List<Message> messages(int count) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            messages.add(message("free-" + i));
        }
        return messages;
    }
}
