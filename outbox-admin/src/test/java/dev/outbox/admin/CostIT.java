package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.jdbc.TableKind;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.PostgresExtension;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(CostIT::fill);

    private static final int SLACK = 150; // a table has more than 700

    /** Of an empty index the planner reads a page each time that it thinks of it, of one with an entry none. */
    private static final String AN_ENTRY_IN_EACH_INDEX = """
            INSERT INTO %1$s (work_item_id, topic, message_key, payload, status, attempt_count, due_on, locked_until,
                owner_token%2$s)
            SELECT gen_random_uuid(), 'open', key, 'x', status, 0, statement_timestamp() + later,
                statement_timestamp() + leased, CASE status WHEN 1 THEN gen_random_uuid() END%3$s
            FROM (VALUES
                (1, 0, NULL, NULL::interval, NULL::interval),
                (2, 0, NULL, interval '1 hour', NULL),
                (3, 0, 'open-key', NULL, NULL),
                (4, 0, 'later-key', interval '1 hour', NULL),
                (5, 1, NULL, NULL, interval '1 hour'),
                (6, 1, 'leased-key', NULL, interval '1 hour')) AS open (n, status, key, later, leased)
            """;

    private static final String ROWS = """
            INSERT INTO %1$s (work_item_id, topic, message_key, correlation_id, tenant_id, payload, status, attempt_count,
                created_on, processed_on, last_error%2$s)
            SELECT gen_random_uuid(), 'topic-' || n %% 5, 'order-' || n %% 1000, 'c-' || n, 'tenant-' || n %% 500,
                repeat('x', 100), %3$d, 1, statement_timestamp() - n * interval '1 second' - interval '2 seconds',
                statement_timestamp() - n * interval '1 second', 'no route'%4$s
            FROM generate_series(1, %5$d) AS n
            """;

    private Connection connection;
    private DataSource single;
    private Admin admin;

    private static void fill(DataSource dataSource) throws SQLException {
        OutboxMigrations.install(dataSource);
        OutboxMigrations.installInbox(dataSource);
        OutboxMigrations.installAdmin(dataSource);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            for (String table : List.of("outbox", "inbox")) {
                boolean inbox = table.equals("inbox");
                String columns = inbox ? ", consumer, source, message_id" : "";
                statement.execute(
                        "ALTER TABLE " + table + " SET (autovacuum_enabled = off)"); // it would be counted too
                statement.execute(
                        ROWS.formatted(table, columns, 2, inbox ? ", 'billing', 'shop', 'done-' || n" : "", 20_000));
                statement.execute(
                        ROWS.formatted(table, columns, 3, inbox ? ", 'billing', 'shop', 'dead-' || n" : "", 2_000));
                OutboxMigrations.installLookup(dataSource, table);
                vacuum(statement, table);
            }
        }
    }

    /**
     * Until every page is known to be visible to all, which decides how much is read and how it is planned: another session,
     * such as autovacuum's at the catalog, may hold a snapshot meanwhile.
     */
    private static void vacuum(Statement statement, String table) {
        await().atMost(Duration.ofMinutes(2)).until(() -> {
            statement.execute("VACUUM ANALYZE " + table);
            try (ResultSet row = statement.executeQuery(
                    "SELECT relallvisible = relpages FROM pg_class WHERE relname = '" + table + "'")) {
                row.next();
                return row.getBoolean(1);
            }
        });
    }

    /** One connection for everything: a session counts what it read, and tells when it is asked to. */
    @BeforeEach
    void open(DataSource dataSource) throws SQLException {
        connection = dataSource.getConnection();
        Connection kept = (Connection) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Connection.class}, (self, method, arguments) -> {
                    try {
                        return method.getName().equals("close") ? null : method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
        single = (DataSource) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {DataSource.class}, (self, method, arguments) -> kept);
        admin = Admin.of(single).build();
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

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
        return counted("SELECT sum(heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit)"
                + " FROM pg_statio_user_tables WHERE relname IN ('outbox', 'inbox')");
    }

    private long counted(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_stat_force_next_flush()");
        }
        return Long.parseLong(value(sql));
    }

    /** The same of both tables. */
    private Question byHand(String sql) {
        return () -> {
            for (String table : List.of("outbox", "inbox")) {
                try (Statement statement = connection.createStatement();
                        ResultSet rows = statement.executeQuery(sql.formatted(table))) {
                    while (rows.next()) {}
                }
            }
        };
    }

    private String value(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void everyQuestionReadsAtMostThreeTimesWhatItsQueryByHandReads() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(AN_ENTRY_IN_EACH_INDEX.formatted("outbox", "", ""));
            statement.execute(AN_ENTRY_IN_EACH_INDEX.formatted(
                    "inbox", ", consumer, source, message_id", ", 'billing', 'shop', 'open-' || n"));
            vacuum(statement, "outbox");
            vacuum(statement, "inbox");
        }
        String newest = "SELECT * FROM %s WHERE status = 3 ORDER BY processed_on DESC, work_item_id DESC LIMIT 51";
        ItemRef ref = new ItemRef(TableKind.INBOX, value("SELECT work_item_id FROM inbox WHERE message_id = 'done-7'"));
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
                "show", pair(() -> assertThat(admin.deadLetters().show(ref)).isPresent(), byHand(own)));
        questions.put(
                "by id", pair(() -> assertThat(admin.lookup().byId(ref.id())).isPresent(), byHand(own)));
        questions.put(
                "find by key",
                pair(
                        () -> assertThat(admin.lookup()
                                        .byKey("order-7", Page.first(50))
                                        .items())
                                .isNotEmpty(),
                        byHand("SELECT * FROM %s WHERE message_key = 'order-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "find by correlation",
                pair(
                        () -> assertThat(admin.lookup()
                                        .byCorrelation("c-7", Page.first(50))
                                        .items())
                                .hasSize(4),
                        byHand("SELECT * FROM %s WHERE correlation_id = 'c-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "find by tenant",
                pair(
                        () -> assertThat(admin.lookup()
                                        .byTenant("tenant-7", Page.first(50))
                                        .items())
                                .isNotEmpty(),
                        byHand("SELECT * FROM %s WHERE tenant_id = 'tenant-7' ORDER BY sequence LIMIT 51")));
        questions.put(
                "dry run of requeue",
                pair(
                        () -> assertThat(admin.deadLetters()
                                        .requeue(DeadFilter.all(), requeue)
                                        .count())
                                .isEqualTo(4_000),
                        byHand(count)));
        questions.put(
                "dry run of requeue by age",
                pair(
                        () -> admin.deadLetters().requeue(DeadFilter.all().olderThan(longAgo), requeue),
                        byHand(count.replace(
                                "= 3", "= 3 AND processed_on < statement_timestamp() - interval '1800 s'"))));
        questions.put(
                "dry run of discard",
                pair(
                        () -> admin.deadLetters()
                                .discard(DeadFilter.all(), Discard.by("a", "b").asDryRun()),
                        byHand(count)));
        questions.put(
                "dry run of purge",
                pair(
                        () -> {
                            admin.purge(TableKind.OUTBOX, Duration.ofHours(1), true);
                            admin.purge(TableKind.INBOX, Duration.ofDays(7), true);
                        },
                        byHand("SELECT count(*) FROM %s WHERE status = 2"
                                + " AND processed_on < statement_timestamp() - interval '1 hour'")));
        questions.put("status", pair(() -> admin.status(), byHand("""
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
                            admin.backlog(TableKind.OUTBOX);
                            admin.backlog(TableKind.INBOX);
                        },
                        byHand("SELECT count(*) FROM %s WHERE status = 3")));

        for (Map.Entry<String, Question[]> question : questions.entrySet()) {
            long byHand = pages(question.getValue()[1]);
            assertThat(pages(question.getValue()[0]))
                    .as("pages read: " + question.getKey())
                    .isLessThanOrEqualTo(3 * byHand + SLACK);
        }
        assertThat(pages(() -> admin.health(HealthLimits.standard())))
                .as("health")
                .isLessThan(600);
    }

    private static Question[] pair(Question ours, Question byHand) {
        return new Question[] {ours, byHand};
    }

    private void list(DeadFilter filter) {
        assertThat(admin.deadLetters().list(filter, Page.first(50)).items()).isNotEmpty();
    }

    @Test
    void aHotKeysBacklogIsNotRead() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("""
                    INSERT INTO outbox (work_item_id, topic, message_key, payload, attempt_count, due_on)
                    SELECT gen_random_uuid(), 'orders', 'hot', repeat('x', 100), CASE n WHEN 1 THEN 1 ELSE 0 END,
                        CASE n WHEN 1 THEN statement_timestamp() + interval '1 hour' END
                    FROM generate_series(1, 10000) AS n
                    """);
            vacuum(statement, "outbox");
        }
        AdminDatabase database = new AdminDatabase(single, Map.of(TableKind.OUTBOX, TableName.parse("outbox")));

        String entries = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'outbox'";
        long before = counted(entries);
        List<BlockedKey> blocked = database.run(
                "look", (session, tables) -> new StatusTable(session, tables.of(TableKind.OUTBOX)).blocked());

        assertThat(blocked).singleElement().satisfies(key -> {
            assertThat(key.key()).isEqualTo("hot");
            assertThat(key.waiting()).isEqualTo(1_000);
        });
        assertThat(counted(entries) - before).isLessThan(5_000);
    }

    @Test
    void aBacklogThatAllBacksOffIsNotRead() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("""
                    INSERT INTO outbox (work_item_id, topic, message_key, payload, attempt_count, due_on)
                    SELECT gen_random_uuid(), 'orders', 'key-' || n, repeat('x', 100), 1,
                        statement_timestamp() + interval '1 hour'
                    FROM generate_series(1, 30000) AS n
                    """);
            statement.execute("VACUUM outbox"); // the planner has not heard of the outage yet
        }
        AdminDatabase database = new AdminDatabase(single, Map.of(TableKind.OUTBOX, TableName.parse("outbox")));

        String entries = "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname = 'outbox'";
        long before = counted(entries);
        Optional<Duration> oldest = database.run(
                "look", (session, tables) -> new StatusTable(session, tables.of(TableKind.OUTBOX)).oldestDue());

        assertThat(oldest).isEmpty();
        assertThat(counted(entries) - before).isLessThan(15_000);
    }

    @Test
    void anItemThatIsThereIsNotLookedForAmongTheDead() throws SQLException {
        ItemRef ref = new ItemRef(TableKind.INBOX, value("SELECT work_item_id FROM inbox WHERE message_id = 'done-7'"));

        String scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'inbox_dead'";
        long before = counted(scans);
        assertThat(admin.deadLetters().show(ref)).isPresent();
        assertThat(admin.deadLetters().showWithPayload(ref)).isPresent();
        assertThat(admin.lookup().byId(ref.id())).isPresent();

        assertThat(counted(scans) - before).isZero();
    }

    @Test
    void aDiscardFindsRecordsByWhenTheyDied() throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("""
                    INSERT INTO inbox (work_item_id, consumer, source, message_id, status, processed_on)
                    SELECT gen_random_uuid(), 'billing', 'shop', 'record-' || n, 3,
                        statement_timestamp() + n * interval '1 microsecond'
                    FROM generate_series(1, 10000) AS n
                    """);
            vacuum(statement, "inbox");
        }
        List<Item> first = admin.deadLetters()
                .list(DeadFilter.all().in(TableKind.INBOX), Page.first(2))
                .items();
        AdminDatabase database = new AdminDatabase(single, Map.of(TableKind.INBOX, TableName.parse("inbox")));

        String pages =
                "SELECT idx_blks_read + idx_blks_hit FROM pg_statio_user_indexes WHERE indexrelname = 'inbox_dead'";
        long before = counted(pages);
        Set<ItemRef> discarded = database.run(
                "discard",
                (session, tables) ->
                        new DeadTable(session, tables.of(TableKind.INBOX)).discard(first, Discard.by("anna", "why")));

        assertThat(discarded).hasSize(2);
        assertThat(counted(pages) - before).isLessThan(30);
    }
}
