package dev.outbox.postgres;

import static dev.outbox.postgres.KeyTransactions.keys;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How many locks STRICT takes for the keys of a transaction, and whom they make wait. */
class KeyLocksIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final KeyTransactions transactions = new KeyTransactions(DATABASE);
    private final Connection first = transactions.first;
    private final Connection second = transactions.second;

    @AfterEach
    void end() throws SQLException {
        transactions.close();
    }

    @Test
    void aCallWithMoreKeysThanTheBoundStopsKeysOfItsTableUntilItCommits() throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);
        EnqueueWay.ALL.enqueueKeys(outbox, first, "bulk", keys("bulk", 8_000));
        outbox.enqueue(second, Message.to("orders").payload("no key"));
        EnqueueWay.ONE.enqueueKeys(
                transactions.outbox(DATABASE.newTable(), Ordering.STRICT), second, "another table", "bulk-1");
        Future<?> waiting = transactions.waiting(
                second, () -> EnqueueWay.ONE.enqueueKeys(outbox, second, "after it", "another key"));
        EnqueueWay.ONE.enqueueKeys(outbox, first, "bulk", "another key");

        first.commit();

        Background.result(waiting);
        assertThat(transactions.payloadsBySequence(table)).hasSize(8_002).last().isEqualTo("after it");
    }

    @Test
    void aCallWithMoreKeysThanTheBoundWaitsForTransactionsWithKeys() throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);
        EnqueueWay.ONE.enqueueKeys(outbox, first, "before it", "bulk-1");
        Future<?> waiting = transactions.waiting(
                second,
                () -> EnqueueWay.ALL.enqueueKeys(outbox, second, "bulk", keys("bulk", PostgresKeyLocks.MOST + 1)));
        EnqueueWay.ONE.enqueueKeys(outbox, first, "before it", "bulk-2");

        first.commit();

        Background.result(waiting);
        assertThat(transactions.payloadsBySequence(table).subList(0, 2)).containsOnly("before it");
    }

    @Test
    void aHundredThousandKeysTakeOneLock() throws SQLException {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);

        EnqueueWay.ALL.enqueueKeys(outbox, first, "p", keys("key", 100_000));
        assertThat(advisoryLocks()).isOne();
        first.commit();

        assertThat(transactions.payloadsBySequence(table)).hasSize(100_000);
    }

    @ParameterizedTest
    @EnumSource
    void callsThatAddUpTakeABoundedNumberOfLocks(EnqueueWay way) throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);
        way.enqueueKeys(outbox, first, "1", "k");
        Future<?> waiting = transactions.waiting(second, () -> way.enqueueKeys(outbox, second, "2", "k"));
        // Who waits for one of its keys must not be in its way.
        for (int i = 0; i < 20; i++) {
            way.enqueueKeys(outbox, first, "1", keys("call-" + i, 60));
        }
        assertThat(advisoryLocks()).isLessThan(PostgresKeyLocks.MOST + 10);

        first.commit();

        Background.result(waiting);
        assertThat(transactions.payloadsBySequence(table)).hasSize(1_202).last().isEqualTo("2");
    }

    @Test
    void callsThatAddUpWaitForTransactionsWithKeysAndThenStopThem() throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);
        EnqueueWay.ONE.enqueueKeys(outbox, second, "before it", "late");
        Future<?> adding = transactions.background.run(() -> {
            EnqueueWay.ONE.enqueueKeys(outbox, first, "many", keys("many", PostgresKeyLocks.MOST));
            EnqueueWay.ONE.enqueueKeys(outbox, first, "many", "late");
            return null;
        });
        transactions.awaitWaiting();
        second.commit();
        Background.result(adding);
        Future<?> waiting =
                transactions.waiting(second, () -> EnqueueWay.ONE.enqueueKeys(outbox, second, "after it", "other"));

        first.commit();

        Background.result(waiting);
        assertThat(transactions.payloadsBySequence(table))
                .startsWith("before it", "many")
                .endsWith("many", "after it");
    }

    @ParameterizedTest
    @EnumSource
    void aKeyCountsOnceHoweverOftenItIsEnqueued(EnqueueWay way) throws SQLException {
        Outbox outbox = transactions.outbox(DATABASE.newTable(), Ordering.STRICT);
        for (int i = 0; i < 200; i++) {
            way.enqueueKeys(outbox, first, "p", "a", "b");
        }

        way.enqueueKeys(outbox, second, "not stopped", "c");
        second.commit();
        first.commit();
    }

    @ParameterizedTest
    @EnumSource
    void aRollbackToASavepointGivesTheKeyFree(EnqueueWay way) throws Exception {
        String table = DATABASE.newTable();
        Outbox outbox = transactions.outbox(table, Ordering.STRICT);
        Savepoint savepoint = first.setSavepoint();
        way.enqueueKeys(outbox, first, "rolled back", "k");
        first.rollback(savepoint);
        way.enqueueKeys(outbox, second, "1", "k");
        Future<?> waiting = transactions.waiting(first, () -> way.enqueueKeys(outbox, first, "2", "k"));

        second.commit();

        Background.result(waiting);
        assertThat(transactions.payloadsBySequence(table)).containsExactly("1", "2");
    }

    @Test
    void manyTransactionsAtTheBoundFitIntoTheServersLockTable() throws SQLException {
        assertThat(DATABASE.query("SHOW max_locks_per_transaction")).containsExactly("64");
        Outbox outbox = transactions.outbox(DATABASE.newTable(), Ordering.STRICT);
        List<Connection> open = new ArrayList<>();
        try {
            for (int i = 0; i < 16; i++) {
                Connection tx = DATABASE.pool().getConnection();
                open.add(tx);
                tx.setAutoCommit(false);
                EnqueueWay.ALL.enqueueKeys(outbox, tx, "p", keys("tx-" + i, PostgresKeyLocks.MOST));
            }

            assertThat(advisoryLocks()).isEqualTo(16L * (PostgresKeyLocks.MOST + 2));
        } finally {
            for (Connection tx : open) {
                tx.rollback();
                tx.close();
            }
        }
    }

    private static long advisoryLocks() {
        return DATABASE.count(
                "pg_locks JOIN pg_database d ON d.oid = database",
                "locktype = 'advisory' AND granted AND datname = current_database()");
    }

    @Test
    void nobodysOwnAdvisoryLocksAreDisturbed() throws SQLException {
        Outbox outbox = transactions.outbox(DATABASE.newTable(), Ordering.STRICT);
        try (Statement locks = first.createStatement()) {
            locks.execute("SELECT pg_advisory_xact_lock(i) FROM generate_series(-10, 1100) i");
            locks.execute(
                    "SELECT pg_advisory_xact_lock(i, j) FROM generate_series(0, 3) i, generate_series(0, 1100) j");
        }

        outbox.enqueueAll(
                second,
                IntStream.range(0, 10_000)
                        .mapToObj(i -> Message.to("orders").key("key-" + i).payload("p"))
                        .toList());
        second.commit();
    }
}
