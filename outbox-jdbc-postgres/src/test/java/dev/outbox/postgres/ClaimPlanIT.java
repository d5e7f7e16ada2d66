package dev.outbox.postgres;

import static dev.outbox.postgres.Plans.Planned.FRESH;
import static dev.outbox.postgres.Plans.Planned.JOINING;
import static dev.outbox.postgres.Plans.Planned.PINNED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.outbox.jdbc.internal.postgres.PostgresPurgeBatches;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a statement costs depends on its batch, not on the table, whatever the planner believes of the table. */
class ClaimPlanIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private record Statement(String name, String text, Plans.Planned how) {
        int batch() {
            return name.equals("expire") || name.equals("purge") ? 1_000 : PlanScenario.BATCH;
        }
    }

    private static final List<Statement> STATEMENTS = List.of(
            new Statement("claim ready rows", PostgresClaim.READY, PINNED),
            new Statement("claim ready rows of topics", PostgresClaim.READY_OF_TOPICS, PINNED),
            new Statement("claim waiting rows", PostgresClaim.WAITING, PINNED),
            new Statement("find keys", PostgresKeyClaim.FIND, PINNED),
            new Statement("take keys", PostgresKeyClaim.TAKE, PINNED),
            new Statement("settle as Done", PostgresSettle.DONE_KEEP, PINNED),
            new Statement("settle as Done and delete", PostgresSettle.DONE_DELETE, PINNED),
            new Statement("settle a mix", PostgresSettle.SETTLE, JOINING),
            new Statement("settle what is free", PostgresSettleFree.SETTLE, JOINING),
            new Statement("settle a mix in a handler's transaction", PostgresSettle.SETTLE, FRESH),
            new Statement("renew", PostgresRenew.RENEW, JOINING),
            new Statement("expire", PostgresExpire.EXPIRE, PINNED),
            new Statement("nextDue", PostgresNextDue.NEXT_DUE, PINNED),
            new Statement("purge", PostgresPurgeBatches.DONE, FRESH));

    /** Four keys probed per row, three index descents each; seven indexes get an entry of the new version. */
    private static final long BUFFERS_PER_ROW = 80;

    /** Four keys probed per row, and a stretch of 4,096 rows where topics are filtered. */
    private static final long ROWS_READ_PER_ROW = 20;

    @TestFactory
    Stream<DynamicTest> everyStatementRunsOnAnEmptyTable() throws SQLException {
        return plans(PlanScenario.empty(DATABASE), "NULL", false);
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsABacklogAmongManyDoneRows() throws SQLException {
        PlanScenario scenario = PlanScenario.backlog(DATABASE, false);
        return Stream.concat(plans(scenario, "NULL", true), plans(scenario, "'{orders,payments}'", true));
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsABurstInATableAnalyzedWhileEmpty() throws SQLException {
        return plans(PlanScenario.burst(DATABASE, false), "NULL", true);
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsATableWhoseRowsWereAllLeasedSinceItWasAnalyzed() throws SQLException {
        return plans(PlanScenario.leasedOnce(DATABASE, false), "NULL", true);
    }

    @TestFactory
    Stream<DynamicTest> noStatementReadsAnInboxThatConsumersShare() throws SQLException {
        return Stream.concat(
                plans(PlanScenario.backlog(DATABASE, true), "NULL", true),
                plans(PlanScenario.burst(DATABASE, true), "NULL", true));
    }

    @TestFactory
    Stream<DynamicTest> noPlanKeptFromWhenTheTableWasEmptyReadsABurst() {
        return STATEMENTS.stream()
                .filter(statement -> statement.how() != FRESH)
                .map(statement -> dynamicTest(statement.name(), () -> {
                    PlanScenario scenario = PlanScenario.empty(DATABASE);
                    Plan plan = scenario.plans("NULL")
                            .explain(statement.name(), statement.text(), statement.how(), scenario::burst);
                    staysInItsBatch(plan, statement);
                }));
    }

    private static Stream<DynamicTest> plans(PlanScenario scenario, String topics, boolean large) throws SQLException {
        Plans plans = scenario.plans(topics);
        return STATEMENTS.stream()
                .map(statement ->
                        dynamicTest(statement.name() + (topics.equals("NULL") ? "" : ", for topics " + topics), () -> {
                            Plan plan = plans.explain(statement.name(), statement.text(), statement.how());
                            if (large) {
                                staysInItsBatch(plan, statement);
                            }
                        }));
    }

    private static void staysInItsBatch(Plan plan, Statement statement) {
        int batch = statement.batch();
        assertThat(plan.seqScans()).as(plan::toString).isEmpty();
        if (!statement.name().equals("expire")) {
            // It has a dead entry for every row that was ever leased: only a timer may read it.
            assertThat(plan.nodes())
                    .as(plan::toString)
                    .noneMatch(node -> node.index().endsWith("_leased"));
        }
        if (statement.how() != FRESH) { // which settles one item at a time
            assertThat(plan.passedOver()).as(plan::toString).isLessThan(ROWS_READ_PER_ROW * batch);
        }
        assertThat(plan.largestSort()).as(plan::toString).isLessThanOrEqualTo(2L * batch);
        assertThat(plan.rowsRead()).as(plan::toString).isLessThan(ROWS_READ_PER_ROW * batch);
        assertThat(plan.buffers()).as(plan::toString).isLessThan(BUFFERS_PER_ROW * batch);
    }
}
