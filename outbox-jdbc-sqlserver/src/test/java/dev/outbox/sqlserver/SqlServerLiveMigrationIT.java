package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.Poller;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Old and new versions of an application at work on an outbox that goes all the way meanwhile, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerLiveMigrationIT {
    private static final String TABLE = "live";
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int PROGRESS = 20;
    private static final int MOST_ON_THEIR_WAY = 50;

    private final SqlServerDatabase database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    private final LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, TABLE);
    private final Upgrade upgrade =
            Upgrade.outbox(TABLE).refreshInterval(Duration.ofMillis(100)).quietFor(Duration.ZERO);

    private final Set<String> placed = ConcurrentHashMap.newKeySet();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Map<String, Queue<Integer>> byKey = new ConcurrentHashMap<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> oldThreads = new ArrayList<>();
    private final List<Thread> producers = new ArrayList<>();
    private final List<Poller> pollers = new ArrayList<>();
    private volatile boolean oldStopped;
    private volatile boolean stopped;
    private volatile boolean keyed;

    @AfterEach
    void stop() throws InterruptedException {
        oldStopped = true;
        stopped = true;
        join(oldThreads);
        join(producers);
        pollers.forEach(Poller::close);
        LegacyOutbox.drop(database, TABLE);
    }

    @Test
    void nothingIsLostAndNobodyFails() throws InterruptedException {
        for (int node = 0; node < 2; node++) {
            SqlServerOutbox outbox = SqlServerOutbox.builder(database.pool())
                    .table(TABLE)
                    .refreshInterval(Duration.ofMillis(50))
                    .build();
            String name = "node" + node;
            int[] number = {0};
            producers.add(start(() -> stopped, () -> place(outbox, name, ++number[0])));
            pollers.add(outbox.poller().to(this::deliver).start());
        }
        oldThreads.add(start(() -> oldStopped, this::placeOld));
        oldThreads.add(start(() -> oldStopped, this::deliverOld));
        awaitProgress();

        apply(Phase.ADDITIVE);
        upgrade.backfill().run(ForgivingDataSource.over(database));
        apply(Phase.DUAL);
        oldStopped = true;
        join(oldThreads);
        await().atMost(PATIENCE).untilAsserted(() -> {
            upgrade.backfill().run(ForgivingDataSource.over(database));
            assertThat(upgrade.report(ForgivingDataSource.over(database)).obstacles(Phase.FLIPPED))
                    .isEmpty();
        });
        apply(Phase.FLIPPED);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(database.query(
                                "SELECT COUNT(*) FROM " + TABLE + " WHERE LibraryToken IS NULL AND Status = 1"))
                        .containsExactly("0"));
        keyed = true;
        awaitProgress();
        if (!database.isBabelfish()) { // where a table cannot become canonical in all
            apply(Phase.CLEAN);
        }

        stopped = true;
        join(producers);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(delivered).containsAll(placed));
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(database.query("SELECT COUNT(*) FROM " + TABLE + " WHERE Status <> 2"))
                        .containsExactly("0"));
        assertThat(failures).isEmpty();
        assertThat(delivered).isEqualTo(placed);
        assertThat(byKey)
                .isNotEmpty()
                .allSatisfy((key, numbers) ->
                        assertThat(List.copyOf(numbers)).as(key).isSorted());
    }

    private void apply(Phase phase) {
        await("ready for " + phase)
                .atMost(PATIENCE)
                .until(() -> upgrade.report(ForgivingDataSource.over(database))
                        .obstacles(phase)
                        .isEmpty());
        if (database.isBabelfish()) { // whose lock timeouts have no number by which they could be known
            await().atMost(PATIENCE)
                    .ignoreExceptionsInstanceOf(OutboxException.class)
                    .until(() -> {
                        upgrade.apply(ForgivingDataSource.over(database), phase);
                        return true;
                    });
        } else {
            upgrade.apply(database.pool(), phase);
        }
        awaitProgress();
    }

    private void awaitProgress() {
        int before = placed.size();
        int deliveredBefore = delivered.size();
        await().atMost(PATIENCE).until(() -> {
            assertThat(failures).isEmpty();
            return placed.size() - before >= PROGRESS && delivered.size() - deliveredBefore >= PROGRESS;
        });
    }

    private interface Turn {
        void take() throws Exception;
    }

    private interface Stopped {
        boolean isTrue();
    }

    private Thread start(Stopped end, Turn turn) {
        Thread thread = new Thread(() -> {
            try {
                while (!end.isTrue()) {
                    while (placed.size() - delivered.size() > MOST_ON_THEIR_WAY && !end.isTrue()) {
                        LockSupport.parkNanos(1_000_000);
                    }
                    turn.take();
                }
            } catch (Exception e) {
                failures.add(e);
            }
        });
        thread.start();
        return thread;
    }

    private void place(SqlServerOutbox outbox, String node, int number) throws SQLException {
        String order = node + ":" + number;
        Message message = Message.to("orders").payload(order);
        try {
            transaction(tx -> outbox.enqueue(tx, keyed ? message.key(node) : message));
            placed.add(order);
        } catch (OutboxException e) {
            if (!database.isBabelfish()) { // where an error in a name ends the transaction
                throw e;
            }
        }
    }

    private void deliver(WorkItem item) {
        if (item.key() != null && item.attempt() == 1) {
            byKey.computeIfAbsent(item.key(), key -> new ConcurrentLinkedQueue<>())
                    .add(Integer.valueOf(item.payload().substring(item.key().length() + 1)));
        }
        delivered.add(item.payload());
    }

    private void placeOld() throws SQLException {
        String order = UUID.randomUUID().toString();
        transaction(tx -> old.enqueue(tx, "orders", order));
        placed.add(order);
    }

    private void deliverOld() throws SQLException {
        UUID owner = UUID.randomUUID();
        List<LegacyOutbox.Claimed> claimed = new ArrayList<>();
        transaction(tx -> claimed.addAll(old.claim(tx, owner, 5)));
        for (LegacyOutbox.Claimed message : claimed) {
            delivered.add(message.payload());
            transaction(tx -> old.acknowledge(tx, owner, message.id()));
        }
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private void transaction(Work work) throws SQLException {
        try (Connection tx = database.pool().getConnection()) {
            tx.setAutoCommit(false);
            try {
                work.in(tx);
                tx.commit();
            } finally {
                tx.rollback();
                tx.setAutoCommit(true);
            }
        }
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
