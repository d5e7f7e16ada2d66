package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** What a statement costs depends on its batch, not on the table, whatever the planner believes of the table. */
class ClaimPlanIT {
    private static final OutboxDatabase DATABASE = new OutboxDatabase();

    private static final Map<String, String> STATEMENTS = new LinkedHashMap<>();

    static {
        STATEMENTS.put("claim", PostgresClaim.CLAIM);
        STATEMENTS.put("settle as Done", PostgresSettle.DONE_KEEP);
        STATEMENTS.put("settle as Done and delete", PostgresSettle.DONE_DELETE);
        STATEMENTS.put("settle a mix", PostgresSettle.SETTLE);
        STATEMENTS.put("renew", PostgresSettle.RENEW);
        STATEMENTS.put("expire", PostgresSource.EXPIRE);
        STATEMENTS.put("nextDue", PostgresSource.NEXT_DUE);
        STATEMENTS.put("purge", PostgresPurge.PURGE);
    }

    /** Four keys probed per row, three index descents each; seven indexes get an entry of the new version. */
    private static final long BUFFERS_PER_ROW = 80;

    /** Four keys probed per row, and a stretch of 4,096 rows where topics are filtered. */
    private static final long ROWS_READ_PER_ROW = 20;

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @TestFactory
    Stream<DynamicTest> everyStatementRunsOnAnEmptyTable() throws SQLException {
        return plans(PlanScenario.empty(DATABASE), "NULL", false);
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsABacklogAmongManyDoneRows() throws SQLException {
        PlanScenario scenario = PlanScenario.backlog(DATABASE);
        return Stream.concat(plans(scenario, "NULL", true), plans(scenario, "'{orders,payments}'", true));
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsABurstInATableAnalyzedWhileEmpty() throws SQLException {
        return plans(PlanScenario.burst(DATABASE), "NULL", true);
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsATableWhoseRowsWereAllLeasedSinceItWasAnalyzed() throws SQLException {
        PlanScenario scenario = PlanScenario.leasedOnce(DATABASE);
        // Whoever reads a dead index entry first marks it, and it costs the next reader nothing.
        scenario.plans("NULL").explain("claim", PostgresClaim.CLAIM, false);
        return plans(scenario, "NULL", true);
    }

    @Test
    void noPlanIsKeptFromWhenTheTableWasEmpty() throws SQLException {
        String table = DATABASE.newTable();
        DATABASE.execute("ANALYZE " + table);
        try (HikariDataSource pool = DATABASE.server().pool(1)) {
            Source source = PostgresOutbox.builder(pool)
                    .table(table)
                    .ticker(() -> 0L)
                    .build()
                    .source();
            Lease lease =
                    new Lease(UUID.randomUUID().toString(), UUID.randomUUID().toString());
            for (int poll = 0; poll < 12; poll++) {
                source.claim(new ClaimRequest(PlanScenario.BATCH, Duration.ofSeconds(30), 5, Set.of(), "me"));
                source.settle(List.of(Settlement.done(lease)));
                source.settle(List.of(Settlement.release(lease, false)));
                source.renew(List.of(lease), Duration.ofSeconds(30));
                source.nextDue(Set.of());
                source.purge();
            }

            assertThat(preparedStatements(pool, table)).isZero();
        }
    }

    private static long preparedStatements(HikariDataSource pool, String table) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery(
                        "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%" + table + "%'")) {
            count.next();
            return count.getLong(1);
        }
    }

    private static Stream<DynamicTest> plans(PlanScenario scenario, String topics, boolean large) throws SQLException {
        Plans plans = scenario.plans(topics);
        return Stream.of(false, true)
                .flatMap(generic -> STATEMENTS.keySet().stream()
                        .map(name -> dynamicTest(
                                name
                                        + (generic ? ", one plan for all values" : ", planned for the values")
                                        + (topics.equals("NULL") ? "" : ", for topics " + topics),
                                () -> {
                                    Plan plan = plans.explain(name, STATEMENTS.get(name), generic);
                                    if (large) {
                                        staysInItsBatch(plan, name);
                                    }
                                })));
    }

    private static void staysInItsBatch(Plan plan, String name) {
        int batch = name.equals("expire") || name.equals("purge") ? 1_000 : PlanScenario.BATCH;
        assertThat(plan.seqScans()).as(plan::toString).isEmpty();
        if (!name.equals("expire")) {
            // It has a dead entry for every row that was ever leased: only a timer may read it.
            assertThat(plan.nodes())
                    .as(plan::toString)
                    .noneMatch(node -> node.index().endsWith("_leased"));
        }
        assertThat(plan.largestSort()).as(plan::toString).isLessThanOrEqualTo(2L * batch);
        assertThat(plan.rowsRead()).as(plan::toString).isLessThan(ROWS_READ_PER_ROW * batch);
        assertThat(plan.buffers()).as(plan::toString).isLessThan(BUFFERS_PER_ROW * batch);
    }
}
