package dev.outbox.testkit;

import static dev.outbox.testkit.InboxScenario.CONSUMER;
import static dev.outbox.testkit.InboxScenario.incoming;
import static dev.outbox.testkit.InboxScenario.item;
import static dev.outbox.testkit.InboxScenario.known;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.outbox.Inbox;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Receipt.Kind;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The same message arrives on several connections at the same moment. */
interface RivalContract {
    int SENDERS = 16;
    int PER_TRANSACTION = 50;

    private static <T> Future<T> inBackground(Callable<T> work) {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try {
            return thread.submit(work);
        } finally {
            thread.shutdown();
        }
    }

    private static <T> T answerOf(Future<T> work) throws Exception {
        try {
            return work.get(1, TimeUnit.MINUTES);
        } catch (ExecutionException e) {
            throw new AssertionError("the rival failed: " + e.getCause(), e.getCause());
        }
    }

    @Test
    default void sixteenSendersOfTheSameMessagesHaveEachEffectOnce(InboxScenario scenario) throws Exception {
        scenario.assumeHas(Feature.RECEIPT_COUNTS);
        int ids = scenario.fixture().rivalMessages();
        List<List<String>> portions = new ArrayList<>();
        for (int i = 0; i < ids; i += PER_TRANSACTION) {
            portions.add(IntStream.range(i, i + PER_TRANSACTION)
                    .mapToObj(id -> "m-" + id)
                    .toList());
        }
        Inbox inbox = scenario.inbox();
        List<Future<Integer>> senders = new ArrayList<>();
        for (int sender = 0; sender < SENDERS; sender++) {
            Random random = new Random(sender);
            List<List<String>> shuffled = new ArrayList<>(portions);
            // some run side by side through the same messages, others meet by chance
            if (sender % 4 != 0) {
                Collections.shuffle(shuffled, random);
            }
            senders.add(inBackground(() -> sendAll(scenario, inbox, shuffled, random)));
        }

        int firsts = 0;
        for (Future<Integer> sender : senders) {
            firsts += sender.get(5, TimeUnit.MINUTES);
        }

        assertThat(firsts).isEqualTo(ids);
        assertThat(scenario.effects())
                .hasSize(ids)
                .containsExactlyInAnyOrderElementsOf(
                        portions.stream().flatMap(List::stream).toList());
        assertThat(known(inbox, "m-0").receipts()).isEqualTo(SENDERS);
    }

    /** Some transactions roll back and are repeated, as after a crash of the consumer. */
    private static int sendAll(InboxScenario scenario, Inbox inbox, List<List<String>> portions, Random random)
            throws SQLException {
        int firsts = 0;
        try (Connection tx = scenario.begin()) {
            for (List<String> portion : portions) {
                while (random.nextInt(20) == 0) {
                    for (String id : portion.subList(0, 3)) {
                        scenario.receive(tx, inbox, incoming(id));
                    }
                    tx.rollback();
                }
                for (String id : portion) {
                    firsts += scenario.receive(tx, inbox, incoming(id)).isFirst() ? 1 : 0;
                }
                tx.commit();
            }
        }
        return firsts;
    }

    @Test
    default void aRivalWaitsAndIsFirstItselfIfTheFirstRollsBack(InboxScenario scenario) throws Exception {
        assertThat(waitFor(Connection::rollback, scenario).kind()).isEqualTo(Kind.FIRST);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    @Test
    default void aRivalWaitsAndIsADuplicateIfTheFirstCommits(InboxScenario scenario) throws Exception {
        assertThat(waitFor(Connection::commit, scenario).kind()).isEqualTo(Kind.DUPLICATE);
        assertThat(scenario.effects()).containsExactly("m-1");
    }

    /** How a transaction ends. */
    interface End {
        void of(Connection tx) throws SQLException;
    }

    private static Receipt waitFor(End end, InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        Future<Receipt> rival;
        try (Connection first = scenario.begin()) {
            assertThat(scenario.receive(first, inbox, incoming("m-1")).isFirst())
                    .isTrue();
            rival = inBackground(() -> scenario.receive(scenario.inbox(), incoming("m-1")));
            scenario.fixture().awaitBlocked(1);
            end.of(first);
        }
        return answerOf(rival);
    }

    @Test
    default void aRivalOfAnEnqueueWaitsToo(InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        Future<List<Receipt>> rival;
        try (Connection first = scenario.begin()) {
            inbox.enqueue(first, item("m-1"));
            rival = inBackground(() -> scenario.enqueue(inbox, item("m-1")));
            scenario.fixture().awaitBlocked(1);
            first.rollback();
        }

        assertThat(answerOf(rival)).extracting(Receipt::kind).containsExactly(Kind.FIRST);
    }

    @Test
    default void aRivalThatWaitedTooLongIsToldToTryAgainAndNotThatItIsADuplicate(InboxScenario scenario)
            throws Exception {
        Inbox inbox = scenario.inbox();
        Inbox impatient = scenario.inbox(InboxSettings.of(CONSUMER).lockTimeout(Duration.ofMillis(50)));
        try (Connection first = scenario.begin()) {
            scenario.receive(first, inbox, incoming("m-1"));

            OutboxException received =
                    catchThrowableOfType(OutboxException.class, () -> scenario.receive(impatient, incoming("m-1")));
            OutboxException enqueued =
                    catchThrowableOfType(OutboxException.class, () -> scenario.enqueue(impatient, item("m-1")));

            assertThat(List.of(received, enqueued)).allMatch(OutboxException::isRetryable);
            assertThat(received).hasMessageContaining("try again");
            first.rollback();
        }
        assertThat(scenario.receive(impatient, incoming("m-1")).kind()).isEqualTo(Kind.FIRST);
    }

    @Test
    default void aRivalUnderRepeatableReadIsToldToTryAgain(InboxScenario scenario) throws Exception {
        meetUnder(Connection.TRANSACTION_REPEATABLE_READ, scenario);
    }

    @Test
    default void aRivalUnderSerializableIsToldToTryAgain(InboxScenario scenario) throws Exception {
        meetUnder(Connection.TRANSACTION_SERIALIZABLE, scenario);
    }

    private static void meetUnder(int isolation, InboxScenario scenario) throws Exception {
        Inbox inbox = scenario.inbox();
        try (Connection tx = scenario.fixture().dataSource().getConnection()) {
            int before = tx.getTransactionIsolation();
            tx.setTransactionIsolation(isolation);
            tx.setAutoCommit(false);
            scenario.receive(tx, inbox, incoming("another"));
            scenario.receive(inbox, incoming("m-1"));

            OutboxException e =
                    catchThrowableOfType(OutboxException.class, () -> scenario.receive(tx, inbox, incoming("m-1")));

            assertThat(e.isRetryable()).isTrue();
            tx.rollback();
            assertThat(scenario.receive(tx, inbox, incoming("m-1")).kind()).isEqualTo(Kind.DUPLICATE);
            tx.commit();
            tx.setAutoCommit(true);
            tx.setTransactionIsolation(before);
        }
        assertThat(scenario.effects()).containsExactly("m-1");
    }
}
