package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxException;
import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
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

/** Old and new versions of an application at work on a table that goes all the way meanwhile. */
abstract class SqlServerLiveMigration {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int PROGRESS = 20;
    private static final int MOST_ON_THEIR_WAY = 50;

    final SqlServerDatabase database;
    final String table;
    private final Upgrade upgrade;

    final Set<String> placed = ConcurrentHashMap.newKeySet();
    final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Map<String, Queue<Integer>> byKey = new ConcurrentHashMap<>();
    private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final List<Thread> oldThreads = new ArrayList<>();
    private final List<Thread> producers = new ArrayList<>();
    private final List<Poller> pollers = new ArrayList<>();
    private volatile boolean oldStopped;
    private volatile boolean stopped;
    volatile boolean keyed;

    SqlServerLiveMigration(SqlServerDatabase database, String table, Upgrade upgrade) {
        this.database = database;
        this.table = table;
        this.upgrade = upgrade.refreshInterval(Duration.ofMillis(100)).quietFor(Duration.ZERO);
    }

    /** A version of the application that uses the library. */
    interface Node {
        void place(String name, int number) throws SQLException;

        PollerBuilder poller();
    }

    abstract Node node();

    /** The old application stores an order. */
    abstract void placeByOld(Connection tx, String order) throws SQLException;

    /** The old application delivers what it can claim. */
    abstract void deliverOld() throws SQLException;

    /** What the status is called at the end of the test. */
    abstract String status();

    @AfterEach
    void stop() throws InterruptedException {
        oldStopped = true;
        stopped = true;
        join(oldThreads);
        join(producers);
        pollers.forEach(Poller::close);
        LegacyOutbox.drop(database, table);
    }

    @Test
    void nothingIsLostAndNobodyFails() throws InterruptedException {
        for (int each = 0; each < 2; each++) {
            Node node = node();
            String name = "node" + each;
            int[] number = {0};
            producers.add(start(() -> stopped, () -> node.place(name, ++number[0])));
            pollers.add(node.poller().to(this::deliver).start());
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
                .untilAsserted(() -> assertThat(database.query("SELECT COUNT(*) FROM " + table
                                + " WHERE LibraryToken IS NULL AND " + status() + " = 1"))
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
                .untilAsserted(() -> assertThat(
                                database.query("SELECT COUNT(*) FROM " + table + " WHERE " + status() + " <> 2"))
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

    private void deliver(WorkItem item) {
        if (item.key() != null && item.attempt() == 1) {
            byKey.computeIfAbsent(item.key(), key -> new ConcurrentLinkedQueue<>())
                    .add(Integer.valueOf(item.payload().substring(item.key().length() + 1)));
        }
        delivered.add(item.payload());
    }

    void placeOld() throws SQLException {
        String order = UUID.randomUUID().toString();
        database.transaction(tx -> placeByOld(tx, order));
        placed.add(order);
    }

    private static void join(List<Thread> threads) throws InterruptedException {
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
