package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.LockWaits;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.ServerGaps;
import dev.outbox.sqlserver.SqlServerDatabase;
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
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Old and new versions of an application at work on a table that goes all the way meanwhile. */
abstract class SqlServerLiveMigration {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int PROGRESS = 20;
    private static final int MOST_ON_THEIR_WAY = 50;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);
    private static final int DEADLOCK = 1205;

    final SqlServerDatabase database;
    final String table;
    private final Upgrade upgrade;
    private final DataSource migration;

    final Set<String> placed = ConcurrentHashMap.newKeySet();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Set<String> twice = ConcurrentHashMap.newKeySet();
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
        this.migration = ForgivingDataSource.over(database, database.unpooled(LockWaits.MIGRATION));
    }

    /** A version of the application that uses the library. */
    interface Node {
        void place(String name, int number) throws SQLException;

        PollerBuilder poller();
    }

    abstract Node node();

    /** The old application stores an order. */
    abstract void placeByOld(Connection tx, String order) throws SQLException;

    /** A message that the old application has claimed, and how it says that it is done with it. */
    record Old(String order, SqlServerDatabase.Work acknowledge) {}

    abstract List<Old> claimByOld(Connection tx) throws SQLException;

    /** Writes to the old columns only what was copied to the new ones, of all rows. */
    abstract String forgettingTheCopy();

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
        migrate();
    }

    @Test
    void noStatementWaitsLongForALock() throws InterruptedException {
        try (LockWaits waits = new LockWaits(database)) {
            migrate();
            assertThat(waits.longest()).isLessThan(LONGEST_WAIT);
        }
    }

    /** What {@link #migrate} would not find out if it did not look. */
    @Test
    void whereACopyIsNotMadeOldAndNewDiffer() throws SQLException {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            upgrade.apply(migration, phase);
            upgrade.backfill().run(migration);
        }
        node().place("node", 1);
        assertThat(differences()).isEmpty();

        database.execute(forgettingTheCopy());

        assertThat(differences()).isNotEmpty();
    }

    private List<Finding> differences() {
        return upgrade.report(migration).findings().stream()
                .filter(finding -> finding.concern() == Finding.Concern.DIFFERENT)
                .toList();
    }

    private void migrate() throws InterruptedException {
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
        apply(Phase.DUAL);
        oldStopped = true;
        join(oldThreads);
        await().atMost(PATIENCE).untilAsserted(() -> {
            upgrade.backfill().run(migration);
            assertThat(upgrade.report(migration).obstacles(Phase.FLIPPED)).isEmpty();
        });
        apply(Phase.FLIPPED);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(database.query("SELECT COUNT(*) FROM " + table
                                + " WHERE LibraryToken IS NULL AND " + status() + " = 1"))
                        .containsExactly("0"));
        keyed = true;
        awaitProgress();
        if (Server.GIVEN.has(ServerGaps.Trait.ALTERS_COLUMNS)) {
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
        assertThat(twice).as("delivered twice for the first time").isEmpty();
        assertThat(byKey)
                .isNotEmpty()
                .allSatisfy((key, numbers) ->
                        assertThat(List.copyOf(numbers)).as(key).isSorted());
    }

    private void apply(Phase phase) {
        await(phase.toString()).atMost(PATIENCE).until(() -> isApplied(phase));
        assertThat(differences()).isEmpty();
        awaitProgress();
        assertThat(differences()).isEmpty();
    }

    private boolean isApplied(Phase phase) {
        if (phase == Phase.DUAL) { // where a new column cannot have a default, the old application stores what lacks it
            upgrade.backfill().run(migration);
        }
        if (!upgrade.report(migration).obstacles(phase).isEmpty()) {
            return false;
        }
        try {
            upgrade.apply(migration, phase);
            return true;
        } catch (OutboxException e) {
            if (Server.GIVEN.has(ServerGaps.Trait.NUMBERS_LOCK_TIMEOUTS)) {
                throw e;
            }
            return false; // a step did not know a lock timeout when it saw one
        }
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
        deliver(item.payload(), item.attempt() == 1);
    }

    private void deliver(String order, boolean first) {
        if (!delivered.add(order) && first) {
            twice.add(order);
        }
    }

    private void deliverOld() throws SQLException {
        List<Old> claimed = new ArrayList<>();
        try {
            database.transaction(tx -> claimed.addAll(claimByOld(tx)));
        } catch (SQLException e) { // where claims do not pass by what others hold, they meet, in whatever order
            if (e.getErrorCode() != DEADLOCK || Server.GIVEN.has(ServerGaps.Trait.READPAST)) {
                throw e;
            }
        }
        for (Old message : claimed) {
            deliver(message.order(), true);
            database.transaction(message.acknowledge());
        }
    }

    /** @param order stores it, in a transaction of its own */
    void place(String name, SqlServerDatabase.Work order) throws SQLException {
        try {
            database.transaction(order);
            placed.add(name);
        } catch (OutboxException e) {
            if (!database.isBabelfish()) { // where an error in a name ends the transaction
                throw e;
            }
        }
    }

    private void placeOld() throws SQLException {
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
