package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The database keeps both sides equal, whichever is written: one case per cell of the table. */
class SyncTriggerIT {
    private static Legacy pascal;
    private static Legacy snake;
    private static Legacy flipped;

    @BeforeAll
    static void create() throws SQLException {
        pascal = new Legacy(Spelling.PASCAL);
        snake = new Legacy(Spelling.SNAKE);
        flipped = new Legacy(Spelling.PASCAL);
        for (Legacy legacy : new Legacy[] {pascal, snake, flipped}) {
            for (Upgrade upgrade : upgrades()) {
                upgrade.apply(legacy.dataSource(), Phase.ADDITIVE);
            }
        }
        for (Upgrade upgrade : upgrades()) {
            upgrade.apply(flipped.dataSource(), Phase.DUAL);
            upgrade.apply(flipped.dataSource(), Phase.FLIPPED);
        }
    }

    private static Upgrade[] upgrades() {
        return new Upgrade[] {hasty(Upgrade.outbox("outbox")), hasty(Upgrade.inbox("inbox", "billing"))};
    }

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    @AfterAll
    static void close() {
        pascal.close();
        snake.close();
        flipped.close();
    }

    /** New status, old status, processed, and whether and alike the two times of it are set. */
    private static final String STATE = """
            SELECT status, [Status], [IsProcessed], CASE WHEN processed_on IS DISTINCT FROM [ProcessedAt] THEN 'differ'
                WHEN processed_on IS NULL THEN '-' ELSE 'set' END FROM outbox
            """;

    @ParameterizedTest(name = "status {0}, processed {1}, at {2}: {3}")
    @CsvSource(delimiter = '|', textBlock = """
            0 | false | NULL  | 0,0,f,-
            0 | false | now() | 0,0,f,set
            0 | true  | NULL  | 2,2,t,set
            0 | true  | now() | 2,2,t,set
            1 | false | NULL  | 1,1,f,-
            1 | false | now() | 1,1,f,set
            1 | true  | NULL  | 2,2,t,set
            1 | true  | now() | 2,2,t,set
            2 | false | NULL  | 2,2,t,set
            2 | false | now() | 2,2,t,set
            2 | true  | NULL  | 2,2,t,set
            2 | true  | now() | 2,2,t,set
            3 | false | NULL  | 3,3,f,-
            3 | false | now() | 3,3,f,set
            3 | true  | NULL  | 3,3,t,-
            3 | true  | now() | 3,3,t,set
            """)
    void whatAnOldApplicationInserts(String status, String processed, String at, String expected) throws SQLException {
        pascal.run("TRUNCATE outbox");
        pascal.run("INSERT INTO outbox ([Topic], [Payload], [Status], [IsProcessed], [ProcessedAt]) VALUES ('t', 'p', "
                + status + ", " + processed + ", " + at + ")");

        assertThat(pascal.value(STATE)).isEqualTo(expected);
        assertThat(pascal.value(
                        "SELECT legacy_write_on IS NOT NULL AND work_item_id = [Id] AND created_on = [CreatedAt]"
                                + " AND message_id = [MessageId]::text AND topic = 't' AND payload = 'p' AND attempt_count = 0"
                                + " AND priority = 1 AND NOT blocks_key AND sequence >= 1000000 FROM outbox"))
                .isEqualTo("t");
    }

    @ParameterizedTest(name = "from {0}: {1} gives {2}, stamped {3}")
    @CsvSource(delimiter = '|', textBlock = """
            0 | [Status] = 1                                                    | 1,1,f,-   | true
            0 | [Status] = 2                                                    | 2,2,t,set | true
            0 | [Status] = 3                                                    | 3,3,f,-   | true
            0 | [IsProcessed] = true                                            | 2,2,t,set | true
            0 | [ProcessedAt] = now()                                           | 0,0,f,set | true
            0 | [Status] = 2, [ProcessedAt] = now()                             | 2,2,t,set | true
            0 | [IsProcessed] = true, [ProcessedAt] = now()                     | 2,2,t,set | true
            0 | [Status] = 2, [IsProcessed] = true                              | 2,2,t,set | true
            1 | [Status] = 2, [IsProcessed] = true, [ProcessedAt] = now()       | 2,2,t,set | true
            0 | [Status] = 1, [IsProcessed] = true                              | refused   | false
            1 | [Status] = 0, [IsProcessed] = true                              | refused   | false
            1 | [Status] = 3, [IsProcessed] = true                              | 3,3,t,-   | true
            2 | [IsProcessed] = false                                           | 0,0,f,set | true
            2 | [Status] = 0                                                    | 0,0,f,set | true
            2 | [Status] = 0, [IsProcessed] = false, [ProcessedAt] = NULL       | 0,0,f,-   | true
            2 | [Status] = 3                                                    | 3,3,f,set | true
            2 | [Status] = 3, [IsProcessed] = false                             | 3,3,f,set | true
            2 | [ProcessedAt] = NULL                                            | 2,2,t,set | true
            3 | [IsProcessed] = true                                            | 3,3,t,-   | false
            3 | [Status] = 0                                                    | 0,0,f,-   | true
            3 | [Status] = 2, [IsProcessed] = true                              | 2,2,t,set | true
            1 | status = 2                                                      | 2,2,t,set | false
            1 | status = 2, processed_on = now()                                | 2,2,t,set | false
            1 | status = 0                                                      | 0,0,f,-   | false
            1 | status = 3                                                      | 3,3,f,-   | false
            2 | status = 0, processed_on = NULL                                 | 0,0,f,-   | false
            1 | status = 2, [Status] = 2, [IsProcessed] = true                  | 2,2,t,-   | false
            1 | status = 2, [IsProcessed] = true                                | 2,2,t,set | false
            1 | status = 3, [IsProcessed] = true                                | 3,3,t,-   | false
            1 | status = 2, [Status] = 3                                        | refused   | false
            1 | status = 0, [IsProcessed] = true                                | refused   | false
            2 | status = 2, [IsProcessed] = false                               | 0,0,f,set | true
            1 | [ProcessedAt] = now(), processed_on = now() + interval '1 hour' | refused   | false
            """)
    void whatAnUpdateOfEitherSideDoes(String before, String change, String expected, boolean stamped)
            throws SQLException {
        pascal.run("TRUNCATE outbox");
        pascal.run(
                "INSERT INTO outbox (work_item_id, topic, payload, status, processed_on) VALUES (gen_random_uuid(), 't',"
                        + " 'p', " + before + ", CASE WHEN " + before + " = 2 THEN now() END)");
        String update = "UPDATE outbox SET " + change;
        if (expected.equals("refused")) {
            assertThatThrownBy(() -> pascal.run(update))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("were set to different values in one statement");
        } else {
            pascal.run(update);
            assertThat(pascal.value(STATE)).isEqualTo(expected);
        }
        assertThat(pascal.value("SELECT legacy_write_on IS NOT NULL FROM outbox"))
                .isEqualTo(stamped ? "t" : "f");
    }

    @ParameterizedTest(name = "from {0}: {1} gives {2}")
    @CsvSource(delimiter = '|', textBlock = """
            0 | status = 2                                                | 2,t,set
            0 | is_processed = true                                       | 2,t,set
            1 | status = 2, is_processed = true, processed_at = now()     | 2,t,set
            1 | status = 3                                                | 3,f,-
            1 | status = 3, is_processed = true                           | 3,t,-
            0 | status = 1, is_processed = true                           | refused
            2 | is_processed = false                                      | 0,f,set
            2 | status = 0                                                | 0,f,set
            """)
    void whereTheStatusIsOneColumnItAndIsProcessedFollowEachOther(String before, String change, String expected)
            throws SQLException {
        snake.run("TRUNCATE outbox");
        snake.run(
                "INSERT INTO outbox (work_item_id, topic, payload, status, is_processed) VALUES (gen_random_uuid(), 't',"
                        + " 'p', " + before + ", " + before.equals("2") + ")");
        String update = "UPDATE outbox SET " + change;
        if (expected.equals("refused")) {
            assertThatThrownBy(() -> snake.run(update)).hasMessageContaining("different values in one statement");
        } else {
            snake.run(update);
            assertThat(snake.value(
                            "SELECT status, is_processed, CASE WHEN processed_on IS DISTINCT FROM processed_at THEN"
                                    + " 'differ' WHEN processed_on IS NULL THEN '-' ELSE 'set' END FROM outbox"))
                    .isEqualTo(expected);
        }
    }

    @ParameterizedTest(name = "{0} gives {1}")
    @CsvSource(delimiter = '|', textBlock = """
            [Status] = 'Processing'                  | 1,Processing
            [Status] = 'Done'                        | 2,Done
            [Status] = 'Dead'                        | 3,Dead
            status = 1                               | 1,Processing
            status = 2                               | 2,Done
            status = 3                               | 3,Dead
            status = 2, [Status] = 'Done'            | 2,Done
            status = 2, [Status] = 'Dead'            | refused
            """)
    void theStatusOfAnInboxIsAWordOnTheOldSide(String change, String expected) throws SQLException {
        pascal.run("TRUNCATE inbox");
        pascal.run("INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload]) VALUES ('m', 's', 't', 'p')");
        assertThat(pascal.value("SELECT status, [Status] FROM inbox")).isEqualTo("0,Seen");
        assertThat(pascal.value("SELECT consumer, source, message_id, receipt_count, work_item_id IS NOT NULL,"
                        + " created_on = [FirstSeenUtc] AND first_seen_on = created_on AND last_seen_on = [LastSeenUtc]"
                        + " FROM inbox"))
                .isEqualTo("billing,s,m,1,t,t");

        if (expected.equals("refused")) {
            assertThatThrownBy(() -> pascal.run("UPDATE inbox SET " + change))
                    .hasMessageContaining("different values in one statement");
        } else {
            pascal.run("UPDATE inbox SET " + change);
            assertThat(pascal.value("SELECT status, [Status] FROM inbox")).isEqualTo(expected);
        }
    }

    @Test
    void whatHardlyAnybodyChangesFollowsToo() throws SQLException {
        for (Legacy legacy : new Legacy[] {pascal, flipped}) {
            legacy.run("TRUNCATE outbox");
            legacy.run("INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'p')");
            legacy.run("UPDATE outbox SET topic = 'u', payload = 'q'");
            assertThat(legacy.value("SELECT [Topic], [Payload], legacy_write_on IS NULL FROM outbox"))
                    .isEqualTo("u,q,t");
        }
        assertThatThrownBy(() -> flipped.run("UPDATE outbox SET [Payload] = 'r'"))
                .hasMessageContaining("its old columns are only read");
        assertThatThrownBy(() -> pascal.run("UPDATE outbox SET [Payload] = 'r', payload = 's'"))
                .hasMessageContaining("different values in one statement");

        pascal.run("UPDATE outbox SET [Payload] = 'r'");
        assertThat(pascal.value("SELECT payload, legacy_write_on IS NOT NULL FROM outbox"))
                .isEqualTo("r,t");
    }

    @Test
    void interimColumnsFollowTheOldOnesThatHaveTheirNames() throws SQLException {
        snake.run("TRUNCATE inbox");
        snake.run("INSERT INTO inbox (message_id, source, topic, payload) VALUES ('m', 's', 't', 'p')");
        snake.run("UPDATE inbox SET status = 'Processing'");
        assertThat(snake.value("SELECT status_code, message_id_new, source_new FROM inbox"))
                .isEqualTo("1,m,s");
        snake.run("UPDATE inbox SET status_code = 2");
        assertThat(snake.value("SELECT status FROM inbox")).isEqualTo("Done");
        snake.run("TRUNCATE outbox");
        snake.run("INSERT INTO outbox (topic, payload) VALUES ('t', 'p')");
        assertThat(snake.value("SELECT message_id_new = message_id::text FROM outbox"))
                .isEqualTo("t");
    }

    @Test
    void aMessageIdOfItsOwnIsKeptAndNoneMeansTheWorkItemId() throws SQLException {
        pascal.run("TRUNCATE outbox");
        pascal.run(
                "INSERT INTO outbox (work_item_id, topic, payload, [MessageId]) VALUES (gen_random_uuid(), 't', 'p', NULL)");
        assertThat(pascal.value("SELECT message_id IS NULL AND [MessageId] = [Id] FROM outbox"))
                .isEqualTo("t");
    }

    @Test
    void whoWritesBothSidesCallsNoFunction() throws SQLException {
        pascal.run("TRUNCATE outbox");
        pascal.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");
        try (Connection connection = pascal.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL track_functions = 'pl'");
            statement.execute(
                    "UPDATE outbox SET status = 1, \"Status\" = 1, locked_until = now(), \"LockedUntil\" = now()");
            assertThat(calls(statement)).isZero();
            statement.execute("UPDATE outbox SET \"RetryCount\" = 7");
            assertThat(calls(statement)).isOne();
        }
    }

    private static long calls(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery(
                "SELECT COALESCE(sum(calls), 0) FROM pg_stat_xact_user_functions WHERE funcname = 'outbox_sync'")) {
            row.next();
            return row.getLong(1);
        }
    }

    @Test
    void aRowOfBeforeIsCompletedWhenItIsTouchedButNotNumbered() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            legacy.run("INSERT INTO outbox ([Topic], [Payload], [DueTimeUtc]) VALUES ('t', 'p', now())");
            Upgrade.outbox("outbox").apply(legacy.dataSource(), Phase.ADDITIVE);
            legacy.run("UPDATE outbox SET status = 1, [Status] = 1");

            assertThat(
                            legacy.value(
                                    "SELECT work_item_id = [Id] AND created_on = [CreatedAt] AND due_on = [DueTimeUtc] AND"
                                            + " topic = 't' AND priority = 1 AND sequence IS NULL AND legacy_write_on IS NULL FROM outbox"))
                    .isEqualTo("t");
        }
    }

    @Test
    void inPhase3NewGoesToOldForThoseWhoReadIt() throws SQLException {
        flipped.run("TRUNCATE outbox");
        flipped.run("INSERT INTO outbox (work_item_id, message_id, topic, payload_bytes)"
                + " VALUES (gen_random_uuid(), 'no uuid', repeat('t', 300), '\\x00')");
        flipped.run("UPDATE outbox SET status = 2, processed_on = now(), attempt_count = 3");

        assertThat(flipped.value(
                        "SELECT [Status], [IsProcessed], [ProcessedAt] = processed_on, [RetryCount], [MessageId],"
                                + " length([Topic]), [Payload], [CreatedAt] = created_on, legacy_write_on FROM outbox"))
                .isEqualTo("2,t,t,3,null,255,null,t,null");
    }

    @Test
    void inPhase3AnOldProducerIsStillTakenAndAnOldClaimerRefused() throws SQLException {
        flipped.run("TRUNCATE outbox");
        flipped.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");
        assertThat(flipped.value("SELECT status, topic, work_item_id = [Id], legacy_write_on IS NOT NULL FROM outbox"))
                .isEqualTo("0,t,t,t");

        assertThatThrownBy(() -> flipped.run("UPDATE outbox SET [Status] = 1"))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("table public.outbox is in phase 3: its old columns are only read");
    }

    @ParameterizedTest(name = "from {0}: {1} gives {2}")
    @CsvSource(delimiter = '|', textBlock = """
            0 | status = 1                                                  | 1,1,f,-
            0 | status = 1, [Status] = 1                                    | 1,1,f,-
            1 | status = 2, [Status] = 2, [IsProcessed] = true              | 2,2,t,-
            1 | status = 2, [Status] = 2                                    | 2,2,t,-
            1 | processed_on = now(), [ProcessedAt] = now()                 | 1,1,f,set
            1 | status = 3, [Status] = 3                                    | 3,3,f,-
            3 | [IsProcessed] = true                                        | 3,3,f,-
            2 | status = 0, [Status] = 0, [IsProcessed] = false             | 0,0,f,set
            1 | status = 2, [Status] = 3                                    | refused
            1 | status = 2, [IsProcessed] = true, [RetryCount] = 5          | refused
            1 | [IsProcessed] = true                                        | refused
            1 | [ProcessedAt] = now()                                       | refused
            1 | [ProcessedAt] = now(), processed_on = now() + interval '1h' | refused
            0 | [LockedUntil] = now()                                       | refused
            0 | [Topic] = 'u'                                               | refused
            0 | [Topic] = 'u', topic = 'u'                                  | 0,0,f,-
            """)
    void whatAnUpdateDoesInPhase3(String before, String change, String expected) throws SQLException {
        flipped.run("TRUNCATE outbox");
        flipped.run(
                "INSERT INTO outbox (work_item_id, topic, payload, status, processed_on) VALUES (gen_random_uuid(), 't',"
                        + " 'p', " + before + ", CASE WHEN " + before + " = 2 THEN now() END)");
        String update = "UPDATE outbox SET " + change;
        if (expected.equals("refused")) {
            assertThatThrownBy(() -> flipped.run(update)).hasMessageContaining("its old columns are only read");
        } else {
            flipped.run(update);
            assertThat(flipped.value(STATE)).isEqualTo(expected);
        }
    }
}
