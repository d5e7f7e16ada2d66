package dev.outbox.postgres;

import static dev.outbox.postgres.Claiming.LEASE;
import static dev.outbox.postgres.Claiming.all;
import static dev.outbox.postgres.Claiming.claim;
import static dev.outbox.postgres.Claiming.done;
import static dev.outbox.postgres.Claiming.ids;
import static dev.outbox.postgres.Claiming.message;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Claims beside other claims, producers and strangers. Whoever would have to wait for a lock fails here. */
class ClaimConcurrencyIT {
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
    void eightClaimersNeverHoldOneRow() throws Exception {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            messages.add(i % 4 == 0 ? message("k-" + i).key("key-" + i % 200) : message("free-" + i));
        }
        DATABASE.commit(outbox, messages);
        Map<String, Integer> holders = new ConcurrentHashMap<>();
        Queue<String> heldTwice = new ConcurrentLinkedQueue<>();
        AtomicInteger left = new AtomicInteger(messages.size());

        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<?>> claimers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                int claimer = i;
                claimers.add(threads.submit(() -> {
                    Source own = outbox.source();
                    Random random = new Random(claimer);
                    while (left.get() > 0) {
                        Claim claim = claim(own, 1 + random.nextInt(300));
                        for (WorkItem item : claim.items()) {
                            if (holders.putIfAbsent(item.id(), claimer) != null) {
                                heldTwice.add(item.toString());
                            }
                            left.decrementAndGet();
                        }
                        // a key goes on when its run is settled; the rest stays leased
                        assertThat(own.settle(claim.items().stream()
                                                .filter(item -> item.key() != null)
                                                .map(item -> Settlement.done(claim.lease(item)))
                                                .toList())
                                        .lost())
                                .isEmpty();
                    }
                }));
            }
            for (Future<?> claimer : claimers) {
                claimer.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertThat(heldTwice).isEmpty();
        assertThat(holders).hasSize(20_000);
        assertThat(DATABASE.count(table, "attempt_count <> 1")).isZero();
    }

    @Test
    void claimDoesNotWaitForProducers() throws SQLException {
        DATABASE.commit(outbox, message("free-1"), message("k-1").key("k"));
        try (Connection producer = DATABASE.begin()) {
            outbox.enqueueAll(
                    producer, List.of(message("free-2"), message("k-2").key("k")));

            assertThat(all(source, 10)).containsExactly("free-1", "k-1");
            producer.rollback();
        }
    }

    @Test
    void producersDoNotWaitForAClaimNorDoOtherClaims() throws SQLException {
        DATABASE.commit(
                outbox,
                message("free-1"),
                message("k-1").key("k"),
                message("k-2").key("k"));
        try (Connection claiming = DATABASE.begin();
                Statement claimUnderWay = claiming.createStatement()) {
            claimUnderWay.execute("UPDATE " + table + " SET status = 1, owner_token = gen_random_uuid(),"
                    + " attempt_count = 1, locked_until = now() + interval '1 minute'");

            OutboxDatabase.commit(
                    IMPATIENT, outbox, List.of(message("free-2"), message("k-3").key("k")));
            assertThat(all(source, 10)).containsExactly("free-2");
            claiming.rollback();
        }
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(all(source, 10)).containsExactly("free-1", "k-1", "k-2", "k-3");
    }

    @Test
    void rowsLockedElsewhereAreLeftOut() throws SQLException {
        Instant past = Instant.now().minusSeconds(60);
        DATABASE.commit(
                outbox,
                message("free-1"),
                message("free-2"),
                message("waiting-1").due(past),
                message("waiting-2").due(past),
                message("a-1").key("a"),
                message("a-2").key("a"),
                message("b-1").key("b"));
        try (Connection stranger = DATABASE.begin()) {
            lock(stranger, "free-1", "waiting-1", "a-1");

            assertThat(all(source, 4)).containsExactly("free-2", "waiting-2", "b-1");
            stranger.rollback();
        }
        ticker.addAndGet(Duration.ofSeconds(1).toNanos());
        assertThat(all(source, 10)).containsExactly("free-1", "waiting-1", "a-1", "a-2");
    }

    @Test
    void aHeadComesAloneWhereARowOfItsRunIsLockedElsewhere() throws SQLException {
        for (int i = 1; i <= 5; i++) {
            DATABASE.commit(outbox, message("k-" + i).key("k"));
        }
        Claim first;
        try (Connection stranger = DATABASE.begin()) {
            lock(stranger, "k-3");

            first = claim(source, 10);
            assertThat(ids(first)).containsExactly("k-1");
            stranger.rollback();
        }
        assertThat(all(outbox.source(), 10)).isEmpty();
        done(source, first);
        assertThat(all(outbox.source(), 10)).containsExactly("k-2", "k-3", "k-4", "k-5");
    }

    @Test
    void expiredLeasesLockedByTheirOwnerAreLeftOut() throws SQLException {
        DATABASE.commit(outbox, message("one"), message("two"));
        claim(source, 10);
        DATABASE.execute("UPDATE " + table + " SET locked_until = statement_timestamp()");
        try (Connection owner = DATABASE.begin()) {
            lock(owner, "one");

            assertThat(all(outbox.source(), 10)).containsExactly("two");
            owner.rollback();
        }
        assertThat(all(outbox.source(), 10)).containsExactly("one");
    }

    @Test
    void allRowsOfAClaimShareOneLeaseEnd() {
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            messages.add(message("k-" + i).key("key-" + i % 10));
        }
        DATABASE.commit(outbox, messages);

        Claim claim = claim(source, 500);

        assertThat(claim.items()).hasSize(500);
        assertThat(DATABASE.query("SELECT count(DISTINCT locked_until) FROM " + table))
                .containsExactly("1");
        source.renew(claim.items().stream().map(claim::lease).toList(), LEASE);
        assertThat(DATABASE.query("SELECT count(DISTINCT locked_until) FROM " + table))
                .containsExactly("1");
    }

    private void lock(Connection stranger, String... ids) throws SQLException {
        try (Statement lock = stranger.createStatement()) {
            lock.execute(
                    "SELECT FROM " + table + " WHERE message_id IN ('" + String.join("', '", ids) + "') FOR UPDATE");
        }
    }
}
