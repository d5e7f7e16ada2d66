package dev.outbox.postgres;

import static dev.outbox.postgres.Delivering.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Outcome;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.postgres.Delivering.Form;
import java.net.ConnectException;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bad messages do not stop good ones. */
class LivenessIT {
    /** Far more than good messages need, and less than they would need if each waited for a bad one. */
    private static final Duration SOON = Duration.ofSeconds(30);

    private static final boolean FULL = Boolean.getBoolean("outbox.full");

    private static final Duration SLOW_FAILURE = FULL ? Duration.ofSeconds(5) : Duration.ofMillis(200);

    private static final RetryPolicy QUICK =
            RetryPolicy.standard().baseDelay(Duration.ofMillis(20)).maxDelay(Duration.ofMillis(200));

    private final OutboxDatabase database = new OutboxDatabase();
    private final List<Poller> pollers = new ArrayList<>();

    @AfterEach
    void close() {
        pollers.forEach(Poller::close);
        database.close();
    }

    private static void failBadOnes(WorkItem item) {
        if (item.messageId().startsWith("bad")) {
            throw new IllegalStateException("bad message");
        }
    }

    private static List<Message> messages(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> message(name + "-" + i)).toList();
    }

    private void awaitReceived(Delivering queue, int count) {
        await().atMost(SOON).until(() -> queue.received.size() == count);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aFewBadMessagesDoNotHoldUpGoodOnesThatComeOneByOne(Form form) {
        Delivering queue = new Delivering(database, form, LivenessIT::failBadOnes);
        queue.store(messages("bad", 10));
        pollers.add(queue.poller().start());

        Instant end = Instant.now().plus(SOON); // for all of them
        for (int i = 0; i < 20; i++) {
            int received = i + 1;
            queue.store(List.of(message("good-" + i)));
            await().atMost(Duration.between(Instant.now(), end)).until(() -> queue.received.size() == received);
        }

        assertThat(database.count(queue.table, "attempt_count = 0 AND message_id LIKE 'bad%'"))
                .as("bad ones that were not tried")
                .isZero();
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void hundredsOfBadMessagesDoNotEitherAndEndAsDead(Form form) {
        Delivering queue = new Delivering(database, form, LivenessIT::failBadOnes);
        queue.store(messages("bad", 200));
        pollers.add(queue.poller().retry(QUICK.maxAttempts(3)).start());

        AtomicInteger good = new AtomicInteger();
        await().atMost(SOON.multipliedBy(2)).pollInterval(Duration.ofMillis(50)).until(() -> {
            queue.store(messages("good-" + good.get(), 5));
            good.addAndGet(5);
            return database.count(queue.table, "status = 3") == 200;
        });

        awaitReceived(queue, good.get());
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void badHeadsOfKeysHoldUpNoOtherKey(Form form) {
        Delivering queue = new Delivering(database, form, LivenessIT::failBadOnes);
        int keys = form == Form.IN_TRANSACTION || form == Form.INBOX_HANDLERS ? 200 : 2_000;
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            for (int key = 0; key < keys; key++) {
                boolean bad = key % 20 == 0;
                messages.add(message((bad && i == 0 ? "bad-" : bad ? "behind-" : "good-") + key + "-" + i)
                        .key("key-" + key));
            }
        }
        queue.store(messages);

        pollers.add(queue.poller().start());

        awaitReceived(queue, keys / 20 * 19 * 5);
        assertThat(queue.received).allSatisfy(id -> assertThat(id).startsWith("good"));
    }

    @ParameterizedTest
    @ValueSource(ints = {500, 20})
    void aBatchThatThrowsBecauseOfOneItemInSoManyDeliversAllOthers(int oneIn) {
        Delivering queue = new Delivering(database, Form.TO_THROWING_BATCH, LivenessIT::failBadOnes);
        queue.store(IntStream.range(0, 2_000)
                .mapToObj(i -> message((i % oneIn == oneIn / 2 ? "bad-" : "good-") + i))
                .toList());

        pollers.add(queue.poller().retry(QUICK.maxAttempts(3)).start());

        int bad = 2_000 / oneIn;
        awaitReceived(queue, 2_000 - bad);
        await().atMost(SOON).until(() -> {
            queue.store(List.of(message("good-" + System.nanoTime()))); // shows that the route accepts messages
            return database.count(queue.table, "status = 3") == bad;
        });
        assertThat(database.count(queue.table, "status = 2 AND attempt_count <> 1"))
                .as("good ones that paid for a bad one")
                .isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"TO", "TO_BATCH", "IN_TRANSACTION", "INBOX_HANDLERS"})
    void aDestinationThatIsUpAndDownInTurnsGetsAllButAHandful(Form form) {
        AtomicBoolean up = new AtomicBoolean();
        Delivering queue = new Delivering(database, form, item -> {
            if (!up.get()) {
                throw new IllegalStateException("down");
            }
        });
        for (int i = 0; i < 4; i++) {
            pollers.add(queue.poller().retry(QUICK.maxAttempts(4)).start());
        }

        int stored = 0;
        for (int i = 0; i < 6; i++) {
            queue.store(messages("part-" + i, 200));
            stored += 200;
            int calls = queue.calls.get();
            await().atMost(SOON).until(() -> queue.calls.get() > calls);
            up.set(!up.get());
        }
        up.set(true);

        int all = stored;
        await().atMost(SOON).until(() -> queue.received.size() + database.count(queue.table, "status = 3") == all);
        assertThat(database.count(queue.table, "status = 3"))
                .as("a handful after each call that was still under way when it went down")
                .isLessThan(stored / 20);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void whereHalfOfAllCallsFailEverythingArrives(Form form) {
        Random random = new Random(42);
        Delivering queue = new Delivering(database, form, item -> {
            boolean fails;
            synchronized (random) {
                fails = random.nextBoolean();
            }
            if (fails) {
                throw new IllegalStateException("bad luck");
            }
        });
        queue.store(messages("any", 500));

        pollers.add(queue.poller().retry(QUICK.maxAttempts(1_000)).start());

        awaitReceived(queue, 500);
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void anErrorIsAFailedAttemptAndDoesNotEndThePoller(Form form) {
        Delivering queue = new Delivering(database, form, item -> {
            if (item.messageId().startsWith("bad")) {
                throw new OutOfMemoryError("heap");
            }
        });
        AtomicInteger survived = new AtomicInteger();
        queue.store(messages("bad", 3));
        Poller poller = queue.poller()
                .retry(QUICK.maxAttempts(2))
                .listener(event -> {
                    if (event instanceof OutboxEvent.ErrorSurvived) {
                        survived.incrementAndGet();
                    }
                })
                .start();
        pollers.add(poller);

        await().atMost(SOON).until(() -> database.count(queue.table, "status = 3") == 3);
        queue.store(messages("good", 3));
        awaitReceived(queue, 3);

        assertThat(poller.isRunning()).isTrue();
        assertThat(survived.get()).isGreaterThanOrEqualTo(6);
    }

    @ParameterizedTest
    @EnumSource(names = {"TO", "TO_BATCH", "IN_TRANSACTION", "INBOX_HANDLERS"})
    void badMessagesThatTakeLongToFailDelayGoodOnesNoMoreThanGoodOnesThatTakeAsLong(Form form) {
        CountDownLatch never = new CountDownLatch(1);
        Delivering queue = new Delivering(database, form, item -> {
            if (item.messageId().startsWith("bad")) {
                never.await(SLOW_FAILURE.toMillis(), TimeUnit.MILLISECONDS);
                throw new IllegalStateException("no answer");
            }
        });
        queue.store(messages("bad", form == Form.TO_BATCH ? 3 : 12)); // one batch call fails for all of its bad items
        pollers.add(queue.poller().start());

        for (int i = 0; i < 10; i++) {
            queue.store(List.of(message("good-" + i)));
            awaitReceived(queue, i + 1);
        }
    }

    @Test
    void aMessageThatIsTakenAwayFromABatchLeavesTheOthersAlone() throws InterruptedException {
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(database.newTable())
                .build();
        CountDownLatch called = new CountDownLatch(1);
        CountDownLatch lost = new CountDownLatch(1);
        Set<Boolean> interrupted = ConcurrentHashMap.newKeySet();
        database.commit(outbox, messages("any", 20));
        pollers.add(outbox.poller()
                .toBatch(items -> {
                    called.countDown();
                    try {
                        lost.await();
                    } catch (InterruptedException e) {
                        interrupted.add(true);
                        throw e;
                    }
                    return items.stream().map(item -> Outcome.done()).toList();
                })
                .lease(Duration.ofSeconds(1))
                .listener(event -> {
                    if (event instanceof OutboxEvent.LeaseLost) {
                        lost.countDown();
                    }
                })
                .start());

        called.await();
        database.execute(
                "UPDATE outbox_1 SET status = 3, owner_token = NULL, locked_until = NULL WHERE message_id = 'any-7'");

        await().atMost(SOON).until(() -> database.count("outbox_1", "status = 2") == 19);
        assertThat(interrupted).isEmpty();
        assertThat(database.count("outbox_1", "status = 2 AND attempt_count <> 1"))
                .isZero();
        assertThat(database.count("outbox_1", "status = 3")).isOne();
    }

    @Test
    void aMessageScheduledBeyondTheMaximumAgeIsNotTooOldAtItsFirstFailure() {
        Outbox outbox = PostgresOutbox.builder(database.pool())
                .table(database.newTable())
                .build();
        AtomicInteger calls = new AtomicInteger();
        database.commit(outbox, message("scheduled").dueIn(Duration.ofDays(8)));
        database.execute("UPDATE outbox_1 SET created_on = created_on - interval '8 days', due_on = now()");

        pollers.add(outbox.poller()
                .to(item -> {
                    if (calls.incrementAndGet() < 3) {
                        throw new ConnectException("refused");
                    }
                })
                .retry(QUICK)
                .start());

        await().atMost(SOON).until(() -> database.count("outbox_1", "status = 2") == 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"IN_TRANSACTION", "INBOX_HANDLERS"})
    void aConnectionThatIsLostUnderAHandlerCostsNoAttempt(Form form) {
        Set<String> killed = ConcurrentHashMap.newKeySet();
        Delivering queue = new Delivering(database, form, item -> {
            if (killed.add(item.messageId())) {
                throw new SQLException("terminating connection due to administrator command", "57P01");
            }
        });
        queue.store(messages("any", 20));

        pollers.add(queue.poller().retry(QUICK).start());

        awaitReceived(queue, 20);
        await().until(() -> database.statuses(queue.table).getOrDefault(Status.DONE, 0L) == 20);
        assertThat(database.count(queue.table, "attempt_count <> 1")).isZero();
    }

    @Test
    void aMessageThatKillsItsConnectionEveryTimeEndsAsDead() {
        Delivering queue = new Delivering(database, Form.IN_TRANSACTION, item -> {
            if (item.messageId().startsWith("bad")) {
                throw new SQLException("the connection was closed", "08006");
            }
        });
        queue.store(List.of(message("bad"), message("good")));

        pollers.add(queue.poller().retry(QUICK.maxAttempts(3)).start());

        await().atMost(SOON).until(() -> database.count(queue.table, "status = 3") == 1);
        awaitReceived(queue, 1);
    }
}
