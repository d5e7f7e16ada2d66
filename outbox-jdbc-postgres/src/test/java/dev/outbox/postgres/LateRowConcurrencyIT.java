package dev.outbox.postgres;

import static dev.outbox.postgres.Claiming.all;
import static dev.outbox.postgres.Claiming.claim;
import static dev.outbox.postgres.Claiming.done;
import static dev.outbox.postgres.Claiming.ids;
import static dev.outbox.postgres.Claiming.message;
import static dev.outbox.postgres.Claiming.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that turn up late, or stay away for long. Whoever would have to wait for a lock fails here. */
@SuppressWarnings("try") // a poller works in the background of its block
class LateRowConcurrencyIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final HikariDataSource IMPATIENT = DATABASE.impatientPool();

    private final AtomicLong ticker = new AtomicLong();
    private final String table = DATABASE.newTable();
    private final Outbox outbox = PostgresOutbox.builder(IMPATIENT)
            .table(table)
            .ordering(Ordering.RELAXED)
            .ticker(ticker::get)
            .build();
    private final Source source = outbox.source();

    @Test
    void aTransactionThatDrewItsSequenceEarlyAndCommitsLateIsFound() throws SQLException {
        Instant past = Instant.now().minusSeconds(60);
        try (Connection late = DATABASE.begin()) {
            outbox.enqueueAll(
                    late, List.of(message("late"), message("late-waiting").due(past.minusSeconds(60))));
            DATABASE.commit(outbox, message("early"), message("early-waiting").due(past));
            assertThat(all(source, 10)).containsExactly("early", "early-waiting");
            late.commit();
        }
        DATABASE.commit(outbox, message("later"), message("later-waiting").due(past.plusSeconds(1)));
        // The mark hides what came late; that is what makes it cheap, and what the sweep is for.
        assertThat(all(source, 10)).containsExactly("later", "later-waiting");

        ticker.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(all(source, 10)).containsExactly("late", "late-waiting");
    }

    @Test
    void aBusyPollerDeliversWhatCommitsLate() throws SQLException {
        Set<String> delivered = ConcurrentHashMap.newKeySet();
        Outbox real = PostgresOutbox.builder(IMPATIENT).table(table).build();
        try (Connection late = DATABASE.begin();
                var poller = real.poller()
                        .batchSize(10)
                        .to(item -> delivered.add(item.messageId()))
                        .start()) {
            real.enqueue(late, message("late"));
            AtomicInteger count = new AtomicInteger();
            await().atMost(PATIENCE).until(() -> {
                keepBusy(real, poller::wakeUp, count);
                return delivered.size() > 100;
            });
            late.commit();
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(10)).until(() -> {
                keepBusy(real, poller::wakeUp, count);
                return delivered.contains("late");
            });
        }
    }

    private static void keepBusy(Outbox outbox, Runnable wakeUp, AtomicInteger count) {
        List<Message> more = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            more.add(message("busy-" + count.incrementAndGet()));
        }
        DATABASE.commit(outbox, more);
        wakeUp.run();
    }

    @Test
    void aRowThatCommitsBelowTheLeasedOnesOfItsKeyWaitsForThem() throws SQLException {
        Claim leased;
        try (Connection late = DATABASE.begin()) {
            outbox.enqueue(late, message("k-1").key("k"));
            DATABASE.commit(outbox, message("k-2").key("k"), message("k-3").key("k"));
            leased = claim(source, 10);
            assertThat(ids(leased)).containsExactly("k-2", "k-3");
            late.commit();
        }
        assertThat(all(outbox.source(), 10)).isEmpty();

        source.settle(List.of(Settlement.done(leased.lease(leased.items().get(0)))));
        assertThat(all(outbox.source(), 10)).isEmpty();

        source.settle(List.of(Settlement.done(leased.lease(leased.items().get(1)))));
        assertThat(all(outbox.source(), 10)).containsExactly("k-1");
    }

    @Test
    void aRequeuedRowWaitsForTheLeasedOnesOfItsKey() {
        DATABASE.commit(
                outbox,
                message("k-1").key("k"),
                message("k-2").key("k"),
                message("k-3").key("k"));
        Claim first = claim(source, 1);
        source.settle(List.of(Settlement.dead(first.lease(first.items().get(0)), "no")));
        Claim leased = claim(source, 10);
        assertThat(ids(leased)).containsExactly("k-2", "k-3");

        DATABASE.execute("UPDATE " + table + " SET status = 0, processed_on = NULL WHERE message_id = 'k-1'");
        assertThat(all(outbox.source(), 10)).isEmpty();

        done(source, leased);
        assertThat(all(outbox.source(), 10)).containsExactly("k-1");
    }

    @Test
    void expiredLeasesAreFoundThoughThereIsAlwaysSomethingElse() {
        Outbox real = PostgresOutbox.builder(IMPATIENT).table(table).build();
        List<Message> lost = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            lost.add(i % 2 == 0 ? message("lost-" + i) : message("lost-" + i).key("k"));
        }
        DATABASE.commit(real, lost);
        Duration shortLease = Duration.ofMillis(200);
        Source dying = real.source();
        assertThat(dying.claim(request(50, shortLease)).items()).hasSize(25);
        assertThat(dying.claim(request(50, shortLease)).items()).hasSize(25);

        Source busy = real.source();
        Set<String> found = ConcurrentHashMap.newKeySet();
        AtomicInteger count = new AtomicInteger();
        await().atMost(PATIENCE).pollInterval(Duration.ofMillis(1)).until(() -> {
            keepBusy(real, () -> {}, count);
            Claim claim = busy.claim(request(20, shortLease));
            claim.items().forEach(item -> found.add(item.messageId()));
            busy.settle(claim.items().stream()
                    .map(item -> Settlement.done(claim.lease(item)))
                    .toList());
            return found.containsAll(lost.stream().map(Message::id).toList());
        });
        assertThat(DATABASE.count(table, "message_id LIKE 'lost-%' AND (attempt_count <> 2 OR status <> 2)"))
                .isZero();
    }

    @Test
    void anIdlePollerAsksLittle() {
        ObservedDataSource observed = ObservedDataSource.statementsOf(IMPATIENT);
        Outbox watched =
                PostgresOutbox.builder(observed.dataSource()).table(table).build();
        observed.forget();

        try (var poller = watched.poller()
                .idle(Duration.ofMillis(10), Duration.ofMillis(10))
                .purgeEvery(Duration.ofDays(1))
                .to(item -> {})
                .start()) {
            await().atMost(PATIENCE).until(() -> observed.claims() >= 40);
        }

        long claims = observed.claims();
        assertThat(observed.count("EXTRACT(EPOCH")).isLessThanOrEqualTo(claims / 10 + 1);
        assertThat(observed.count("lease expired")).isLessThanOrEqualTo(2);
        assertThat(observed.count()).isLessThanOrEqualTo(3 * claims + claims / 10 + 3);
    }

    @Test
    void aBlockedKeyWithAHundredThousandDueRowsBehindItIsNotSpunOn() {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            Message message = message("k-" + i).key("k");
            messages.add(i % 2 == 0 ? message : message.due(Instant.now().minusSeconds(60)));
        }
        DATABASE.commit(outbox, messages);
        DATABASE.execute("UPDATE " + table + " SET attempt_count = 1, due_on = statement_timestamp() + interval '1 h'"
                + " WHERE message_id = 'k-0'");
        ObservedDataSource observed = ObservedDataSource.statementsOf(IMPATIENT);
        Outbox watched =
                PostgresOutbox.builder(observed.dataSource()).table(table).build();
        observed.forget();
        Queue<String> delivered = new ConcurrentLinkedQueue<>();

        long started = System.nanoTime();
        try (var poller = watched.poller()
                .drainTimeout(Duration.ZERO)
                .to(item -> delivered.add(item.messageId()))
                .start()) {
            await().pollDelay(Duration.ofSeconds(4)).until(() -> observed.claims() > 0);
            double perSecond = observed.claims() * 1e9 / (System.nanoTime() - started);
            assertThat(perSecond).as("claims a second").isLessThan(5);
            assertThat(delivered).isEmpty();

            DATABASE.execute("UPDATE " + table + " SET due_on = statement_timestamp() WHERE message_id = 'k-0'");
            await().atMost(PATIENCE).until(() -> delivered.size() > 100);
        }
        assertThat(delivered).startsWith("k-0", "k-1", "k-2");
    }
}
