package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.postgres.PostgresPurgeBatches;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class PurgeIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final Duration WEEK = Duration.ofDays(7);

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();

    private void rows(int count, Status status, String finishedAgo) {
        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, payload, status, processed_on)"
                + " SELECT gen_random_uuid(), 't', 'p', " + status.code() + ", now() - interval '" + finishedAgo
                + "' FROM generate_series(1, " + count + ")");
    }

    @Test
    void onlyOldDoneRowsGo() {
        rows(3, Status.DONE, "7 days 1 minute");
        rows(4, Status.DONE, "6 days 23 hours");
        rows(5, Status.DEAD, "1 year");
        rows(6, Status.PROCESSING, "1 year");
        rows(7, Status.READY, "1 year");

        assertThat(outbox.purge(WEEK)).isEqualTo(3);
        assertThat(outbox.purge(WEEK)).isZero();

        assertThat(DATABASE.statuses(table))
                .isEqualTo(Map.of(Status.DONE, 4L, Status.DEAD, 5L, Status.PROCESSING, 6L, Status.READY, 7L));
    }

    @Test
    void everythingDoneGoesAtAgeZero() {
        rows(3, Status.DONE, "1 microsecond");
        rows(1, Status.DEAD, "1 year");

        assertThat(outbox.purge(Duration.ZERO)).isEqualTo(3);

        assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.DEAD, 1L));
    }

    @Test
    void aNegativeAgeIsRefused() {
        assertThatThrownBy(() -> outbox.purge(Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("olderThan must be between PT0S and ");
    }

    @Test
    void manyRowsGoInBatchesOfAThousandOldestFirst() {
        rows(5_000, Status.DONE, "8 days");
        rows(500, Status.DONE, "9 days");

        assertThat(outbox.source().purge()).isEqualTo(1_000);
        assertThat(DATABASE.count(table, "processed_on < now() - interval '8 days 1 hour'"))
                .isZero();
        assertThat(DATABASE.count(table, "true")).isEqualTo(4_500);

        assertThat(outbox.purge(WEEK)).isEqualTo(4_500);
    }

    @Test
    void anInterruptEndsItAfterTheBatchUnderWay() {
        rows(2_500, Status.DONE, "8 days");
        Thread.currentThread().interrupt();

        assertThat(outbox.purge(WEEK)).isEqualTo(1_000);

        assertThat(Thread.interrupted()).as("still interrupted").isTrue();
        assertThat(DATABASE.count(table, "true")).isEqualTo(1_500);
    }

    @Test
    void aBatchBeginsWhereTheOneBeforeEndedThoughAnOldSnapshotKeepsWhatIsGone() throws SQLException {
        DATABASE.execute("INSERT INTO " + table + " (work_item_id, topic, payload, status, processed_on)"
                + " SELECT gen_random_uuid(), 't', 'p', 2, now() - interval '8 days' - n * interval '1 second'"
                + " FROM generate_series(1, 5000) AS n");
        DATABASE.execute("ANALYZE " + table);
        String index = "FROM pg_stat_user_indexes WHERE indexrelname = '" + table + "_done'";
        try (Connection old = DATABASE.pool().getConnection();
                Statement snapshot = old.createStatement()) {
            old.setAutoCommit(false);
            snapshot.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
            snapshot.execute("SELECT 1 FROM " + table + " LIMIT 1");
            try (HikariDataSource one = DATABASE.pool(pool -> pool.setMaximumPoolSize(1))) {
                Outbox alone = PostgresOutbox.builder(one).table(table).build();

                assertThat(alone.purge(WEEK)).isEqualTo(5_000);
            } // a session that ends tells what it read
            old.rollback();
        }

        await().untilAsserted(() -> assertThat(DATABASE.query("SELECT idx_scan >= 6 " + index))
                .as("five full batches and an empty one")
                .containsExactly("t"));
        assertThat(DATABASE.query("SELECT idx_tup_read < 10000 " + index)).containsExactly("t");
    }

    @Test
    void rowsThatSomebodyHoldsAreLeftForTheNextTime() throws SQLException {
        rows(10, Status.DONE, "8 days");
        try (Connection other = DATABASE.pool().getConnection();
                Statement lock = other.createStatement()) {
            other.setAutoCommit(false);
            lock.execute("SELECT 1 FROM " + table + " ORDER BY sequence LIMIT 4 FOR KEY SHARE");

            assertThat(outbox.purge(WEEK)).isEqualTo(6);

            other.rollback();
        }
        assertThat(outbox.purge(WEEK)).isEqualTo(4);
    }

    @Test
    void whoeverComesWhileAnotherPurgesDoesNothing() throws SQLException {
        rows(10, Status.DONE, "8 days");
        String otherTable = DATABASE.newTable();
        try (Connection other = DATABASE.pool().getConnection();
                Statement purge = other.createStatement()) {
            other.setAutoCommit(false);
            // The lock is taken inside the statement, whose end is kept away by not committing.
            String sql = PostgresTable.outbox(other, TableName.parse(table))
                    .layout()
                    .resolve(PostgresPurgeBatches.DONE
                            .replace(":older_than", "0")
                            .replace(":begin", "'-infinity'")
                            .replace(":lock", String.valueOf(lock(other, table)))
                            .replace(":batch", "1"))
                    .text();
            try (ResultSet row = purge.executeQuery(sql)) {
                row.next();
                assertThat(row.getInt("removed")).isOne();
            }

            assertThat(outbox.purge(WEEK)).isZero();
            assertThat(PostgresOutbox.builder(DATABASE.pool())
                            .table(otherTable)
                            .build()
                            .purge(WEEK))
                    .isZero();

            other.commit();
        }
        assertThat(outbox.purge(WEEK)).isEqualTo(9);
    }

    private static long lock(Connection connection, String table) throws SQLException {
        return PostgresPurge.lock(PostgresTable.outbox(connection, TableName.parse(table)));
    }

    @Test
    void anotherTablesPurgeGoesOnMeanwhile() throws SQLException {
        rows(10, Status.DONE, "8 days");
        String otherTable = DATABASE.newTable();
        try (Connection other = DATABASE.pool().getConnection();
                Statement lock = other.createStatement()) {
            other.setAutoCommit(false);
            lock.execute("SELECT pg_advisory_xact_lock(" + lock(other, otherTable) + ")");

            assertThat(outbox.purge(WEEK)).isEqualTo(10);
        }
    }

    @Test
    void aPollerPurgesByItselfAndSaysSo() {
        List<Integer> purged = new CopyOnWriteArrayList<>();
        Outbox shortLived = PostgresOutbox.builder(DATABASE.pool())
                .table(table)
                .retention(Duration.ZERO)
                .listener(event -> {
                    if (event instanceof OutboxEvent.Purged p) {
                        purged.add(p.count());
                    }
                })
                .build();
        rows(2_500, Status.DONE, "1 second");
        rows(2, Status.DEAD, "1 second");
        DATABASE.commit(shortLived, Message.to("t").payload("p"));

        try (Poller poller = shortLived
                .poller()
                .to(item -> {})
                .purgeEvery(Duration.ofMillis(20))
                .build()) {
            poller.start();
            await().untilAsserted(() -> assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.DEAD, 2L)));
            await().untilAsserted(() -> assertThat(
                            purged.stream().mapToInt(Integer::intValue).sum())
                    .isEqualTo(2_501));
        }
    }

    @Test
    void aPollerKeepsDoneRowsForTheirRetention() {
        List<OutboxEvent> delivered = new CopyOnWriteArrayList<>();
        rows(3, Status.DONE, "8 days");
        rows(3, Status.DONE, "6 days");
        DATABASE.commit(outbox, Message.to("t").payload("p"));

        try (Poller poller = outbox.poller()
                .to(item -> {})
                .listener(delivered::add)
                .purgeEvery(Duration.ofMillis(20))
                .build()) {
            poller.start();
            await().until(() -> delivered.stream().anyMatch(OutboxEvent.Done.class::isInstance));
            await().until(() -> delivered.stream().anyMatch(OutboxEvent.Purged.class::isInstance));
        }

        assertThat(DATABASE.statuses(table)).isEqualTo(Map.of(Status.DONE, 4L));
    }
}
