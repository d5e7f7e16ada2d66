package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.postgres.WorkerMain.Mode;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Source;
import dev.outbox.spi.Unchanged;
import dev.outbox.testkit.ForwardingSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that are killed or paused, in JVMs of their own. */
@SuppressWarnings("try") // a poller works in the background of its block
class WorkerCrashIT {
    private static final Duration LEASE = Duration.ofMillis(800);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final OutboxDatabase database = new OutboxDatabase();

    private String table;
    private Outbox outbox;
    private DeliveryLog log;

    @BeforeEach
    void createTable() {
        table = database.newTable();
        outbox = PostgresOutbox.builder(database.pool()).table(table).build();
        log = new DeliveryLog(database.pool(), table).create();
    }

    @ParameterizedTest
    @EnumSource(names = {"HANG_WHEN_CLAIMED", "HANG_IN_DELIVERY", "HANG_IN_SETTLE"})
    void itemsOfAKilledWorkerAreDeliveredByAnotherAfterTheLease(Mode step) {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            messages.add(message("a-" + i).key("a"));
            messages.add(message("b-" + i).key("b"));
            messages.add(message("c-" + i).key("c"));
        }
        database.commit(outbox, messages);

        try (WorkerProcess worker =
                WorkerProcess.start(database, table, new WorkerMain.Settings(step, LEASE, 18, 3, 10))) {
            switch (step) {
                case HANG_WHEN_CLAIMED -> worker.await("claimed 18", 1);
                case HANG_IN_DELIVERY -> worker.await("delivering", 3);
                default -> {
                    worker.await("delivered", 18);
                    worker.await("settling", 1);
                }
            }
            assertThat(database.count(table, "status = 1 AND attempt_count = 1 AND processed_by = 'worker'"))
                    .isEqualTo(18);
            worker.kill();
        }
        List<String> byWorker = log.by("worker");

        try (Poller other = poller("other", 10)) {
            awaitDone(18);
        }

        assertThat(byWorker).hasSize(step == Mode.HANG_IN_SETTLE ? 18 : 0);
        assertThat(log.by("other"))
                .containsExactlyInAnyOrderElementsOf(
                        messages.stream().map(Message::id).toList());
        assertThat(log.effects()).hasSize(18);
        assertThat(log.by("other", "a")).containsExactly("a-0", "a-1", "a-2", "a-3", "a-4", "a-5");
        assertThat(log.by("other", "b")).containsExactly("b-0", "b-1", "b-2", "b-3", "b-4", "b-5");
        assertThat(database.count(table, "attempt_count = 2 AND processed_by = 'other'"))
                .isEqualTo(18);
    }

    @Test
    void aMessageThatKillsItsWorkerEndsDeadAndTheOthersAreDelivered() {
        database.commit(
                outbox,
                message("before-1"),
                message("before-2").key("k"),
                message("poison").payload("poison"),
                message("after-1").key("k"),
                message("after-2"));
        WorkerMain.Settings settings = new WorkerMain.Settings(Mode.HALT_ON_POISON, Duration.ofMillis(500), 1, 1, 3);

        List<String> attempts = new ArrayList<>();
        for (int child = 1; child <= 3; child++) {
            try (WorkerProcess worker = WorkerProcess.start(database, table, settings)) {
                assertThat(worker.awaitEnd()).isEqualTo(9);
            }
            attempts.addAll(database.query(
                    "SELECT status || ':' || attempt_count FROM " + table + " WHERE message_id = 'poison'"));
        }
        try (Poller last = poller("last", 3)) {
            await().atMost(PATIENCE)
                    .until(() -> database.statuses(table).equals(Map.of(Status.DONE, 4L, Status.DEAD, 1L)));
        }

        assertThat(attempts).containsExactly("1:1", "1:2", "1:3");
        assertThat(database.query("SELECT attempt_count || ' ' || last_error FROM " + table + " WHERE status = 3"))
                .containsExactly("3 lease expired on attempt 3 at worker");
        assertThat(log.effects()).containsExactlyInAnyOrder("before-1", "before-2", "after-1", "after-2");
        assertThat(database.count(table, "status = 2 AND attempt_count > 1")).isZero();
    }

    /** Resumed when another worker is done with its items, or when that one is still at them. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aWorkerPausedPastItsLeaseCanNeitherSettleNorDeliverMore(boolean otherIsDone) {
        database.commit(
                outbox,
                message("k-1").key("k"),
                message("k-2").key("k"),
                message("k-3").key("k"),
                message("free-1"),
                message("free-2"));
        CountDownLatch go = new CountDownLatch(otherIsDone ? 0 : 1);
        try (WorkerProcess worker =
                WorkerProcess.start(database, table, new WorkerMain.Settings(Mode.PAUSE_IN_DELIVERY, LEASE))) {
            worker.await("delivered", 1);
            worker.pause();
            try (Poller other = poller("other", 10, go)) {
                await().atMost(PATIENCE)
                        .until(() ->
                                database.count(table, "processed_by = 'other' AND status = " + (otherIsDone ? 2 : 1))
                                        == 5);
                List<String> left = rows();

                worker.tell("go");
                worker.resume();
                worker.await("fenced", 1);
                worker.await("lost", 1);
                worker.tell("close");
                assertThat(worker.awaitEnd()).isZero();

                assertThat(worker.lines("delivering")).hasSize(1);
                assertThat(worker.lines("fenced")).hasSize(1);
                assertThat(rows()).isEqualTo(left);
                go.countDown();
                awaitDone(5);
            }
        }
        assertThat(log.by("worker")).hasSize(1);
        assertThat(log.by("other")).hasSize(5);
        assertThat(log.by("other", "k")).containsExactly("k-1", "k-2", "k-3");
        assertThat(log.effects()).hasSize(5);
    }

    /** The database may know of its next owner long before it does: only its own clock can stop it. */
    @Test
    void aWorkerThatCannotRenewStopsByItsOwnClock() throws InterruptedException {
        database.commit(outbox, message("k-1").key("k"), message("k-2").key("k"), message("free-1"));
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        Queue<String> delivered = new ConcurrentLinkedQueue<>();

        try (Poller cutOff = Poller.from(withoutRenewal(outbox.source()))
                        .name("cut-off")
                        .lease(LEASE)
                        .concurrency(1)
                        .idle(Duration.ofDays(1), Duration.ofDays(1))
                        .drainTimeout(PATIENCE)
                        .to(item -> {
                            begun.countDown();
                            awaitUninterrupted(go);
                            delivered.add(item.messageId());
                        })
                        .start();
                Poller other = startWhen(begun)) {
            awaitDone(3);
            go.countDown();
        }

        assertThat(delivered).hasSize(1);
        assertThat(database.count(table, "status = 2 AND processed_by = 'other'"))
                .isEqualTo(3);
    }

    private Poller startWhen(CountDownLatch begun) throws InterruptedException {
        begun.await();
        return poller("other", 10);
    }

    private Poller poller(String name, int maxAttempts) {
        return poller(name, maxAttempts, new CountDownLatch(0));
    }

    private Poller poller(String name, int maxAttempts, CountDownLatch go) {
        return outbox.poller()
                .name(name)
                .lease(LEASE)
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .retry(RetryPolicy.standard().maxAttempts(maxAttempts))
                .to(item -> {
                    go.await();
                    log.record(item, name);
                })
                .start();
    }

    private void awaitDone(long count) {
        await().atMost(PATIENCE).until(() -> database.statuses(table).equals(Map.of(Status.DONE, count)));
    }

    private List<String> rows() {
        return database.query("SELECT concat_ws(' ', message_id, status, attempt_count, processed_by, owner_token,"
                + " processed_on, due_on, last_error) FROM " + table + " ORDER BY sequence");
    }

    private static Message message(String id) {
        return Message.to("crash").id(id).payload("x");
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        while (true) {
            try {
                latch.await();
                return;
            } catch (InterruptedException e) {
                // its work cannot be broken off
            }
        }
    }

    /** A source whose renewals do not get through. */
    private static Source withoutRenewal(Source source) {
        return new ForwardingSource(source) {
            @Override
            public Unchanged renew(List<Lease> leases, Duration length) {
                throw new IllegalStateException("cut off");
            }
        };
    }
}
