package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.BackfillProgress;
import dev.outbox.migrations.Upgrade;
import java.io.BufferedReader;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

class BackfillIT {
    private static final boolean FULL = Boolean.getBoolean("outbox.full");
    private static final int ROWS = FULL ? 1_000_000 : 100_000;
    private static final int KILLS = 20;
    /** A process takes long to start: most of the kills of the default run end a connection in the middle of its work. */
    private static final int PROCESS_KILLS = FULL ? KILLS : 2;

    private static final Upgrade OUTBOX = Upgrade.outbox("outbox");

    private static void fill(Legacy legacy, int rows) throws SQLException {
        legacy.run("""
                INSERT INTO outbox ([Topic], [Payload], [CreatedAt], [Status], [IsProcessed], [ProcessedAt], [RetryCount])
                SELECT 't', 'p' || i, now() - random() * interval '30 days', s, s = 2,
                    CASE WHEN s = 2 THEN now() END, i %% 4
                FROM (SELECT i, (ARRAY[0, 1, 2, 2, 2, 3])[i %% 6 + 1] AS s FROM generate_series(1, %d) i) rows
                """.formatted(rows));
    }

    /** Number 1 is the oldest that is unfinished; the finished ones come after those. */
    private static void assertNumberedInOrder(Legacy legacy, int rows) throws SQLException {
        assertThat(legacy.value("""
                SELECT count(*), min(sequence), max(sequence), count(DISTINCT sequence),
                    count(*) FILTER (WHERE sequence <> place)
                FROM (SELECT sequence, row_number() OVER (ORDER BY [Status] >= 2, [CreatedAt], [Id]) AS place
                    FROM outbox WHERE [Topic] = 't') numbered
                """)).isEqualTo(rows + ",1," + rows + "," + rows + ",0");
    }

    @Test
    void killedTwentyTimesItEndsExact() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            fill(legacy, ROWS);
            OUTBOX.apply(legacy.dataSource(), Phase.ADDITIVE);
            AtomicBoolean stop = new AtomicBoolean();
            ExecutorService writer = Executors.newSingleThreadExecutor();
            try {
                Future<Integer> written = writer.submit(() -> write(legacy, stop));
                Random random = new Random(7);
                for (int kill = 0; kill < KILLS; kill++) {
                    int batches = 1 + random.nextInt(4);
                    if (kill < PROCESS_KILLS) {
                        killProcess(legacy, batches);
                    } else {
                        killConnection(legacy, batches, random.nextInt(40));
                    }
                }
                long before = Long.parseLong(legacy.value("SELECT count(*) FROM outbox_backfill"));
                assertThat(before).isPositive();

                assertThat(OUTBOX.backfill().batch(10_000).run(legacy.dataSource()))
                        .isEqualTo(before);

                stop.set(true);
                int added = written.get();
                assertThat(added).isPositive();
                assertNumberedInOrder(legacy, ROWS);
                assertThat(legacy.value("SELECT count(DISTINCT sequence), min(sequence) >= 1000000 FROM outbox"
                                + " WHERE [Topic] <> 't'"))
                        .isEqualTo(added + ",t");
                assertThat(OUTBOX.quietFor(Duration.ZERO)
                                .report(legacy.dataSource())
                                .findings())
                        .isEmpty();
                assertThat(legacy.value("SELECT to_regclass('outbox_backfill')"))
                        .isEqualTo("null");
            } finally {
                stop.set(true);
                writer.shutdown();
            }
        }
    }

    @Test
    void twoRunsAtOnceDoNoHarm() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            fill(legacy, 100);
            OUTBOX.apply(legacy.dataSource(), Phase.ADDITIVE);
            AtomicBoolean overtaken = new AtomicBoolean();

            long done = OUTBOX.backfill()
                    .batch(10)
                    .listener(progress -> {
                        if (overtaken.compareAndSet(false, true)) {
                            assertThat(OUTBOX.backfill().run(legacy.dataSource()))
                                    .isEqualTo(90);
                        }
                    })
                    .run(legacy.dataSource());

            assertThat(done).isEqualTo(10);
            assertNumberedInOrder(legacy, 100);
        }
    }

    /** Under REPEATABLE READ it would fail at the first row that somebody changes meanwhile. */
    @Test
    void thePoolsIsolationDoesNotMatter() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.PASCAL);
                Connection connection = legacy.dataSource().getConnection()) {
            fill(legacy, 10);
            OUTBOX.apply(legacy.dataSource(), Phase.ADDITIVE);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            DataSource pool = (DataSource) Proxy.newProxyInstance(
                    getClass().getClassLoader(),
                    new Class<?>[] {DataSource.class},
                    (self, method, arguments) -> connection);
            List<Integer> isolations = new ArrayList<>();

            OUTBOX.backfill()
                    .listener(progress -> isolations.add(isolation(connection)))
                    .run(pool);

            assertThat(isolations).containsExactly(Connection.TRANSACTION_READ_COMMITTED);
        }
    }

    private static int isolation(Connection connection) {
        try {
            return connection.getTransactionIsolation();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void whatIsFinishedAndDoesNotSaySinceWhenCountsFromNow() throws SQLException {
        for (Spelling spelling : new Spelling[] {Spelling.PASCAL, Spelling.SNAKE}) {
            try (Legacy legacy = new Legacy(spelling)) {
                legacy.run("INSERT INTO outbox ([Topic], [Payload], [Status], [IsProcessed]) VALUES"
                        + " ('done', 'p', 2, true), ('contradiction', 'p', 0, true), ('dead', 'p', 3, false),"
                        + " ('ready', 'p', 0, false)");
                OUTBOX.apply(legacy.dataSource(), Phase.ADDITIVE);

                OUTBOX.backfill().run(legacy.dataSource());

                assertThat(legacy.rows(
                                "SELECT [Topic] FROM outbox WHERE [ProcessedAt] IS NOT NULL AND processed_on = [ProcessedAt]"
                                        + " ORDER BY 1"))
                        .containsExactly("contradiction", "dead", "done");
            }
        }
    }

    /** An old application at work meanwhile: rows come, and rows of before change. */
    private static int write(Legacy legacy, AtomicBoolean stop) throws SQLException {
        int added = 0;
        OldApplication old = new OldApplication(legacy.spelling, "outbox");
        try (Connection connection = legacy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            while (!stop.get() && added < 500) {
                old.enqueue(connection, "new", "p", null, null);
                added++;
                statement.execute(legacy.spelling.sql("UPDATE outbox SET [RetryCount] = [RetryCount] + 1"
                        + " WHERE [Id] IN (SELECT [Id] FROM outbox TABLESAMPLE SYSTEM (0.1) LIMIT 5)"));
            }
        }
        return added;
    }

    private static void killProcess(Legacy legacy, int batches) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BackfillMain.class.getName(),
                        legacy.jdbcUrl(),
                        String.valueOf(ROWS / 200),
                        String.valueOf(batches + 1))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try (BufferedReader lines = process.inputReader()) {
            for (int line = 0; line < batches; line++) {
                assertThat(lines.readLine()).startsWith("backfill of public.outbox: ");
            }
        } finally {
            process.destroyForcibly();
            assertThat(process.waitFor(300, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** It is killed somewhere in the batch that follows, or after that one, where it waits. */
    private static void killConnection(Legacy legacy, int batches, int spins) throws Exception {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(legacy.jdbcUrl());
        dataSource.setApplicationName("backfill");
        CountDownLatch worked = new CountDownLatch(batches);
        CountDownLatch killed = new CountDownLatch(1);
        ExecutorService job = Executors.newSingleThreadExecutor();
        try (Connection connection = legacy.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            Future<Long> run = job.submit(() -> OUTBOX.backfill()
                    .batch(ROWS / 200)
                    .pause(Duration.ZERO)
                    .listener(progress -> {
                        if (worked.getCount() == 0) {
                            await(killed);
                        }
                        worked.countDown();
                    })
                    .run(dataSource));
            await(worked);
            for (int spin = 0; spin < spins; spin++) {
                statement.execute("SELECT 1");
            }
            statement.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                            + " AND application_name = 'backfill'");
            killed.countDown();
            assertThatThrownBy(run::get)
                    .hasCauseInstanceOf(OutboxException.class)
                    .hasMessageContaining("run it again to continue");
        } finally {
            killed.countDown();
            job.shutdown();
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(300, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void aRowThatSomebodyHoldsIsLeftForLaterAndNobodyWaits() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.SNAKE);
                Connection holder = legacy.dataSource().getConnection();
                Statement hold = holder.createStatement()) {
            fill(legacy, 100);
            OUTBOX.apply(legacy.dataSource(), Phase.ADDITIVE);
            holder.setAutoCommit(false);
            hold.execute("SELECT FROM outbox WHERE payload = 'p50' FOR UPDATE");
            List<BackfillProgress> told = new ArrayList<>();

            long done = OUTBOX.backfill()
                    .batch(30)
                    .listener(progress -> {
                        told.add(progress);
                        if (progress.remaining() == 1) {
                            commit(holder);
                        }
                    })
                    .run(legacy.dataSource());

            assertThat(done).isEqualTo(100);
            assertThat(told.get(0))
                    .hasToString(told.get(0).toString())
                    .satisfies(first -> assertThat(first.remaining()).isBetween(70L, 71L));
            assertThat(told.get(told.size() - 1).remaining()).isZero();
            assertNumberedInOrder(legacy, 100);
        }
    }

    private static void commit(Connection connection) {
        try {
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void anInboxIsBackfilledTooAndByPlainSqlAlike() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.CAMEL)) {
            legacy.run(
                    "INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload], [FirstSeenUtc], [Status])"
                            + " SELECT 'm' || i, 's', 't', 'p', now() - i * interval '1 hour', 'Seen' FROM generate_series(1, 50) i");
            Upgrade inbox = Upgrade.inbox("inbox", "billing").quietFor(Duration.ZERO);
            inbox.apply(legacy.dataSource(), Phase.ADDITIVE);

            String script = inbox.backfill().batch(7).render(legacy.dataSource());
            int listed = script.indexOf("COMMIT;\n") + 8;
            legacy.run(script.substring(0, listed));
            try (Connection connection = legacy.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute(script.substring(listed, script.indexOf("DROP TABLE")));
                statement.execute(script.substring(script.indexOf("DROP TABLE")));
            }

            assertThat(legacy.value(
                            "SELECT string_agg(message_id, ',' ORDER BY sequence) FROM (SELECT * FROM inbox ORDER BY"
                                    + " sequence LIMIT 3) first"))
                    .isEqualTo("m50,m49,m48");
            assertThat(inbox.report(legacy.dataSource()).findings()).isEmpty();
        }
    }

    @Test
    void thereIsNothingToBackfillInPhase0() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.SNAKE)) {
            assertThatThrownBy(() -> OUTBOX.backfill().run(legacy.dataSource()))
                    .isInstanceOf(OutboxException.class)
                    .hasMessage("table \"public.outbox\" is in phase 0: there is nothing to backfill before phase 1 or"
                            + " after phase 3");
        }
    }
}
