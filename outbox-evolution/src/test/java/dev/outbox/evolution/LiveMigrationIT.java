package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Upgrade;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;

/** From the legacy tables to the canonical ones under traffic, with an old application beside the new one. */
class LiveMigrationIT {
    private static final boolean FULL = Boolean.getBoolean("outbox.full");

    private static final Duration LONGEST_WAIT = Duration.ofSeconds(2);

    private static final Duration PATIENCE = Duration.ofMinutes(10);

    /**
     * How much happens in a run.
     *
     * @param progress orders carried out between two steps
     */
    private record Size(int rowsBefore, int progress) {}

    private static final Size SMALL = new Size(500, 60);
    private static final Size SMOKE = new Size(100, 20);
    private static final Size LARGE = new Size(50_000, 3_000);

    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    private final HikariDataSource pool = database.pool(40);
    private final PGSimpleDataSource migration = new PGSimpleDataSource();
    private final Upgrade outbox = hasty(Upgrade.outbox("outbox"));
    private final Upgrade inbox = hasty(Upgrade.inbox("inbox", LiveApplications.CONSUMER));
    private Spelling spelling = Spelling.PASCAL;
    private Size size = SMALL;
    private LiveApplications applications = new LiveApplications(pool, spelling);

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ofSeconds(3)).quietFor(Duration.ofSeconds(3));
    }

    private void open(Spelling spelling, Size size) throws SQLException {
        this.spelling = spelling;
        this.size = size;
        applications = new LiveApplications(pool, spelling);
        migration.setUrl(database.jdbcUrl());
        migration.setApplicationName(LockWaits.MIGRATION);
        run(LegacyTables.outbox(spelling, "outbox"));
        run(LegacyTables.inbox(spelling, "inbox"));
        run("CREATE TABLE orders (id text NOT NULL)");
        run("CREATE TABLE refused (id text NOT NULL)");
        run("CREATE TABLE effects (id text NOT NULL)");
        run("INSERT INTO outbox ([Topic], [Payload], [CreatedAt], [Status], [IsProcessed], [ProcessedAt])"
                + " SELECT 'edge', 'before', now() - i * interval '1 second', 2, true, now()"
                + " FROM generate_series(1, " + size.rowsBefore() + ") i");
        run("INSERT INTO inbox ([MessageId], [Source], [Status], [ProcessedUtc])"
                + " SELECT 'before-' || i, 'shop', 'Done', now() FROM generate_series(1, " + size.rowsBefore() + ") i");
    }

    @AfterEach
    void close() {
        applications.close();
        database.close();
    }

    /** The default run takes one spelling this way, and the one that needs the renaming in a shorter one. */
    static Stream<Arguments> runs() {
        return FULL
                ? Arrays.stream(Spelling.values()).map(spelling -> arguments(spelling, LARGE))
                : Stream.of(arguments(Spelling.PASCAL, SMALL), arguments(Spelling.SNAKE, SMOKE));
    }

    @ParameterizedTest
    @MethodSource("runs")
    void aSystemAtWorkGoesFromTheOldTablesToTheNewOnes(Spelling spelling, Size size) throws Exception {
        open(spelling, size);
        try (LockWaits waits = new LockWaits(migration)) {
            applications.start();
            awaitProgress("phase 0");
            step(Phase.ADDITIVE);
            outbox.backfill().batch(100).run(migration);
            inbox.backfill().batch(100).run(migration);
            awaitProgress("backfill");
            step(Phase.DUAL);
            applications.stopOld();
            step(Phase.FLIPPED);
            await().atMost(PATIENCE).until(applications::takesKeys);
            applications.useKeys();
            awaitProgress("keys");
            if (spelling != Spelling.PASCAL) { // whose names are nobody else's
                step(Phase.RENAMING);
            }
            step(Phase.CLEAN);
            awaitProgress("the end");
            applications.stopProducers();
            await("every order carried out").atMost(PATIENCE).until(() -> {
                assertThat(applications.failures).isEmpty();
                return value("SELECT count(DISTINCT id) FROM effects") == applications.placed.get()
                        && value("SELECT count(*) FROM outbox WHERE status < 2") == 0;
            });

            assertThat(waits.longest()).isLessThan(LONGEST_WAIT);
        }
        assertThat(applications.failures).isEmpty();
        assertThat(applications.arrivals).hasPositiveValue();
        assertThat(applications.oldArrivals).hasPositiveValue();
        assertThat(rows("SELECT id FROM effects GROUP BY id HAVING count(*) > 1"))
                .as("carried out twice")
                .isEmpty();
        assertThat(rows("(SELECT id FROM orders EXCEPT SELECT id FROM effects)"
                        + " UNION ALL (SELECT id FROM effects EXCEPT SELECT id FROM orders)"))
                .as("lost, or out of nowhere")
                .isEmpty();
        assertThat(rows("(SELECT id FROM refused EXCEPT SELECT payload FROM outbox WHERE status = 3)"
                        + " UNION ALL (SELECT payload FROM outbox WHERE status = 3 EXCEPT SELECT id FROM refused)"))
                .as("refused, but not Dead")
                .isEmpty();
        assertThat(applications.deliveredByKey)
                .isNotEmpty()
                .allSatisfy((key, numbers) ->
                        assertThat(List.copyOf(numbers)).as(key).isSorted());
    }

    /** What the test above would not find out if it did not look is that nobody keeps the columns equal. */
    @Test
    void withoutTheSyncOldAndNewDiffer() throws Exception {
        open(Spelling.PASCAL, SMALL);
        applications.start();
        outbox.apply(migration, Phase.ADDITIVE);
        run("ALTER TABLE outbox DISABLE TRIGGER USER");

        await().atMost(PATIENCE).until(() -> !differences(outbox).isEmpty());
    }

    private void step(Phase phase) throws SQLException {
        for (Upgrade upgrade : List.of(outbox, inbox)) {
            await("ready for " + phase)
                    .atMost(PATIENCE)
                    .until(() -> upgrade.report(migration).obstacles(phase).isEmpty());
            upgrade.apply(migration, phase);
            assertThat(differences(upgrade)).isEmpty();
            awaitProgress(phase.toString());
            assertThat(differences(upgrade)).isEmpty();
        }
    }

    private List<Finding> differences(Upgrade upgrade) {
        return upgrade.report(migration).findings().stream()
                .filter(finding -> finding.concern() == Finding.Concern.DIFFERENT)
                .toList();
    }

    private void awaitProgress(String where) {
        int placed = applications.placed.get();
        int carriedOut = applications.carriedOut.get();
        await("orders are placed and carried out: " + where).atMost(PATIENCE).until(() -> {
            assertThat(applications.failures).isEmpty();
            return applications.placed.get() - placed >= size.progress()
                    && applications.carriedOut.get() - carriedOut >= size.progress();
        });
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = migration.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(spelling.sql(sql));
        }
    }

    private int value(String sql) throws SQLException {
        return Integer.parseInt(rows(sql).get(0));
    }

    private List<String> rows(String sql) throws SQLException {
        try (Connection connection = migration.getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(row.getString(1));
            }
            return rows;
        }
    }
}
