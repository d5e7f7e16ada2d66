package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.TableKind;
import dev.outbox.testkit.PostgresExtension;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What is read about large tables, in pages as the server counts them: at most three times what the same indexed query by
 * hand reads, and some that the planner looks at. Pages, unlike milliseconds, are the same on every machine.
 */
class CostIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(LargeTables::fill);

    private LargeTables tables;

    @BeforeEach
    void open(DataSource dataSource) throws SQLException {
        tables = new LargeTables(dataSource);
    }

    @AfterEach
    void close() throws SQLException {
        tables.close();
    }

    private static final int SLACK = 150; // a table has more than 700

    private interface Question {
        void ask() throws SQLException;
    }

    private long pages(Question question) throws SQLException {
        question.ask(); // what is read once only, when a session first sees a table, is not counted
        long before = pagesSoFar();
        question.ask();
        return pagesSoFar() - before;
    }

    private long pagesSoFar() throws SQLException {
        return tables.counted("SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)"
                + " FROM pg_statio_user_tables WHERE relname IN ('outbox', 'inbox')");
    }

    /** The same of both tables. */
    private Question byHand(String sql) {
        return () -> {
            for (String table : List.of("outbox", "inbox")) {
                try (Statement statement = tables.connection.createStatement();
                        ResultSet rows = statement.executeQuery(sql.formatted(table))) {
                    while (rows.next()) {}
                }
            }
        };
    }

    @Test
    void everyQuestionReadsAtMostThreeTimesWhatItsQueryByHandReads() throws SQLException {
        try (Statement statement = tables.connection.createStatement()) {
            statement.execute(LargeTables.AN_ENTRY_IN_EACH_INDEX.formatted("outbox", "", ""));
            statement.execute(LargeTables.AN_ENTRY_IN_EACH_INDEX.formatted(
                    "inbox", ", consumer, source, message_id", ", 'billing', 'shop', 'open-' || n"));
            LargeTables.vacuum(statement, "outbox");
            LargeTables.vacuum(statement, "inbox");
        }
        String newest = "SELECT * FROM %s WHERE status = 3 ORDER BY processed_on DESC, work_item_id DESC LIMIT 51";
        ItemRef ref = new ItemRef(
                TableKind.INBOX, tables.value("SELECT work_item_id FROM inbox WHERE message_id = 'done-7'"));
        String own = "SELECT * FROM %s WHERE topic IS NOT NULL AND work_item_id = '" + ref.id() + "'";
        String count = "SELECT count(topic) FROM %s WHERE status = 3";
        Duration longAgo = Duration.ofSeconds(1_800);
        Requeue requeue = Requeue.by("anna", "why").asDryRun();
        Map<String, Question[]> questions = new LinkedHashMap<>();
        questions.put("list", pair(() -> list(DeadFilter.all()), byHand(newest)));
        questions.put(
                "list by topic",
                pair(
                        () -> list(DeadFilter.all().topic("topic-3")),
                        byHand(newest.replace("= 3 ", "= 3 AND topic = 'topic-3' "))));
        questions.put(
                "list by key",
                pair(
                        () -> list(DeadFilter.all().key("order-7")),
                        byHand(newest.replace("= 3 ", "= 3 AND message_key = 'order-7' "))));
        questions.put(
                "list by age",
                pair(
                        () -> list(DeadFilter.all().olderThan(longAgo)),
                        byHand(newest.replace(
                                "= 3 ", "= 3 AND processed_on < statement_timestamp() - interval '1800 s' "))));
        questions.put(
                "show",
                pair(() -> assertThat(tables.admin.deadLetters().show(ref)).isPresent(), byHand(own)));
        questions.put(
                "by id",
                pair(() -> assertThat(tables.admin.lookup().byId(ref.id())).isPresent(), byHand(own)));
        questions.put(
                "find by key",
                pair(
                        () -> assertThat(tables.admin
                                        .lookup()
                                        .byKey("order-7", Page.first(50))
                                        .items())
                                .isNotEmpty(),
                        byHand("SELECT * FROM %s WHERE message_key = 'order-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "find by correlation",
                pair(
                        () -> assertThat(tables.admin
                                        .lookup()
                                        .byCorrelation("c-7", Page.first(50))
                                        .items())
                                .hasSize(4),
                        byHand("SELECT * FROM %s WHERE correlation_id = 'c-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "find by tenant",
                pair(
                        () -> assertThat(tables.admin
                                        .lookup()
                                        .byTenant("tenant-7", Page.first(50))
                                        .items())
                                .isNotEmpty(),
                        byHand("SELECT * FROM %s WHERE tenant_id = 'tenant-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "dry run of requeue",
                pair(
                        () -> assertThat(tables.admin
                                        .deadLetters()
                                        .requeue(DeadFilter.all(), requeue)
                                        .count())
                                .isEqualTo(4_000),
                        byHand(count)));
        questions.put(
                "dry run of requeue by age",
                pair(
                        () -> tables.admin
                                .deadLetters()
                                .requeue(DeadFilter.all().olderThan(longAgo), requeue),
                        byHand(count.replace(
                                "= 3", "= 3 AND processed_on < statement_timestamp() - interval '1800 s'"))));
        questions.put(
                "dry run of discard",
                pair(
                        () -> tables.admin
                                .deadLetters()
                                .discard(DeadFilter.all(), Discard.by("a", "b").asDryRun()),
                        byHand(count)));
        questions.put(
                "dry run of purge",
                pair(
                        () -> {
                            tables.admin.purge(TableKind.OUTBOX, Duration.ofHours(1), true);
                            tables.admin.purge(TableKind.INBOX, Duration.ofDays(7), true);
                        },
                        byHand("SELECT count(*) FROM %s WHERE status = 2"
                                + " AND processed_on < statement_timestamp() - interval '1 hour'")));
        questions.put("status", pair(() -> tables.admin.status(), byHand("""
                        SELECT topic, count(*)::text FROM %1$s WHERE status = 3 GROUP BY topic
                        UNION ALL
                        SELECT 'throughput', percentile_disc(0.5) WITHIN GROUP (ORDER BY processed_on - created_on)::text
                        FROM (
                            SELECT processed_on, created_on FROM %1$s
                            WHERE status = 2 ORDER BY processed_on DESC LIMIT 10000) AS last
                        """)));
        questions.put(
                "backlog",
                pair(
                        () -> {
                            tables.admin.backlog(TableKind.OUTBOX);
                            tables.admin.backlog(TableKind.INBOX);
                        },
                        byHand("SELECT count(*) FROM %s WHERE status = 3")));

        for (Map.Entry<String, Question[]> question : questions.entrySet()) {
            long byHand = pages(question.getValue()[1]);
            assertThat(pages(question.getValue()[0]))
                    .as("pages read: " + question.getKey())
                    .isLessThanOrEqualTo(3 * byHand + SLACK);
        }
        assertThat(pages(() -> tables.admin.health(HealthLimits.standard())))
                .as("health")
                .isLessThan(600);
    }

    private static Question[] pair(Question ours, Question byHand) {
        return new Question[] {ours, byHand};
    }

    private void list(DeadFilter filter) {
        assertThat(tables.admin.deadLetters().list(filter, Page.first(50)).items())
                .isNotEmpty();
    }
}
