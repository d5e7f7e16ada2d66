package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the report finds, and that a phase refuses to run while it does. */
class GuardsIT {
    private final Legacy legacy;
    private final Upgrade outbox =
            Upgrade.outbox("outbox").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    private final Upgrade inbox =
            Upgrade.inbox("inbox", "billing").refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);

    GuardsIT() throws SQLException {
        legacy = new Legacy(Spelling.PASCAL);
    }

    @AfterEach
    void close() {
        legacy.close();
    }

    private void to(Phase phase) {
        for (Phase next : new Phase[] {Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED}) {
            if (next.compareTo(phase) <= 0) {
                outbox.apply(legacy.dataSource(), next);
                outbox.backfill().run(legacy.dataSource());
            }
        }
    }

    private void assertRefused(Phase phase, Upgrade upgrade, String... reasons) {
        assertThatThrownBy(() -> upgrade.apply(legacy.dataSource(), phase))
                .isInstanceOf(OutboxException.class)
                .hasMessageContainingAll(reasons);
    }

    /** The leading check of the plain script, for those who run it without the report. */
    private void assertScriptRefused(Phase phase, Upgrade upgrade, String reason) {
        String script = upgrade.render(legacy.dataSource(), phase);
        assertThatThrownBy(() -> legacy.run(script.substring(0, script.indexOf("COMMIT;"))))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(reason);
    }

    private Finding only(Concern concern) {
        return outbox.report(legacy.dataSource()).findings().stream()
                .filter(finding -> finding.concern() == concern)
                .reduce((one, other) -> {
                    throw new AssertionError(one + " and " + other);
                })
                .orElseThrow();
    }

    @Test
    void phasesFollowEachOther() {
        assertRefused(
                Phase.DUAL,
                outbox,
                "table \"public.outbox\" is in phase 0 and cannot go to phase 2; its next is phase 1");
        assertScriptRefused(Phase.FLIPPED, outbox, "it must be in phase 2 to go to phase 3");
    }

    @Test
    void aNameLeavesRoomForThoseOfWhatGoesWithTheTable() {
        assertThatThrownBy(() -> Upgrade.outbox("x".repeat(48)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("table must have at most 47 characters");
    }

    @Test
    void phase2WaitsForTheBackfill() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p'), ('t', 'q')");
        outbox.apply(legacy.dataSource(), Phase.ADDITIVE);

        assertRefused(Phase.DUAL, outbox, "not ready for phase 2: 2 rows are not backfilled; run the backfill");
        assertScriptRefused(Phase.DUAL, outbox, "table public.outbox: 2 rows are not backfilled; run the backfill");
        assertThat(only(Concern.NOT_BACKFILLED).rows()).isEqualTo(2);
        assertThat(outbox.report(legacy.dataSource()).problems()).isEmpty();

        outbox.backfill().run(legacy.dataSource());
        outbox.apply(legacy.dataSource(), Phase.DUAL);
        assertThat(outbox.report(legacy.dataSource()).findings()).isEmpty();
    }

    @Test
    void rowsThatDifferAreFound() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p'), ('t', 'q')");
        to(Phase.ADDITIVE);
        legacy.run("ALTER TABLE outbox DISABLE TRIGGER outbox_sync_update");
        legacy.run("UPDATE outbox SET [RetryCount] = 9 WHERE [Payload] = 'p'");

        assertThat(only(Concern.DIFFERENT).rows()).isEqualTo(1);
        assertThat(only(Concern.SYNC_MISSING).wrong()).isTrue();
        assertRefused(
                Phase.DUAL,
                outbox,
                "one of the triggers outbox_sync, outbox_sync_update, outbox_sync_named, outbox_sync_veto,"
                        + " outbox_sync_written is missing or disabled",
                "1 rows say one thing in old columns");
        assertScriptRefused(Phase.DUAL, outbox, "outbox_sync_written is missing or disabled");

        outbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        assertScriptRefused(Phase.DUAL, outbox, "1 rows say one thing in old columns");
        assertThat(outbox.report(legacy.dataSource()).problems())
                .extracting(Finding::concern)
                .containsExactly(Concern.DIFFERENT);
    }

    @Test
    void phase3WaitsUntilTheOldApplicationIsQuietAndEveryNodeHasNoticedPhase2() throws SQLException {
        to(Phase.DUAL);
        assertRefused(
                Phase.FLIPPED,
                outbox.refreshInterval(Duration.ofMinutes(1)),
                "it came to phase 2 less than PT2M ago, and not every node may have noticed");
        assertScriptRefused(Phase.FLIPPED, outbox.refreshInterval(Duration.ofMinutes(1)), "less than PT2M ago");

        try (Connection connection = legacy.dataSource().getConnection()) {
            OldApplication old = new OldApplication(legacy.spelling, "outbox");
            old.enqueue(connection, "t", "p", null, null);
            UUID owner = UUID.randomUUID();
            old.acknowledge(
                    connection, owner, old.claim(connection, owner, 1).get(0).id());
        }
        Upgrade patient = outbox.quietFor(Duration.ofHours(1));
        String refusal = "somebody wrote columns that are going to be dropped, and only those, within the last PT1H";
        assertRefused(Phase.FLIPPED, patient, refusal);
        assertScriptRefused(Phase.FLIPPED, patient, refusal);

        outbox.apply(legacy.dataSource(), Phase.FLIPPED);
    }

    @Test
    void rowsThatTheCanonicalTableWouldNotTakeStopPhase3() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload], [Status]) VALUES ('t', 'p', 7)");
        to(Phase.DUAL);

        assertRefused(Phase.FLIPPED, outbox, "1 rows break the rule CHECK (status BETWEEN 0 AND 3)");
        assertScriptRefused(Phase.FLIPPED, outbox, "1 rows break the rule CHECK (status BETWEEN 0 AND 3)");
    }

    /** Whoever runs a script in a tool that does not stop at an error gets no further either. */
    @Test
    void everyTransactionOfAScriptChecksWhetherItsTimeHasCome() throws SQLException {
        for (Upgrade upgrade : new Upgrade[] {outbox, inbox}) {
            List<String> scripts = new ArrayList<>();
            for (Phase phase : new Phase[] {Phase.DUAL, Phase.FLIPPED, Phase.CLEAN}) {
                scripts.add(upgrade.render(legacy.dataSource(), phase));
            }
            for (Phase phase : new Phase[] {Phase.ADDITIVE, Phase.DUAL}) {
                scripts.add(upgrade.renderBack(legacy.dataSource(), phase));
            }
            for (String script : scripts) {
                List<MatchResult> transactions = Pattern.compile("BEGIN;\n(.*?)COMMIT;\n\n", Pattern.DOTALL)
                        .matcher(script)
                        .results()
                        .toList();
                assertThat(transactions).hasSizeGreaterThan(1);
                for (MatchResult transaction : transactions) {
                    assertThatThrownBy(() -> legacy.run(transaction.group(1)))
                            .isInstanceOf(SQLException.class)
                            .hasMessageContaining("it must be in phase ");
                }
            }
        }
    }

    @Test
    void viewsOfColumnsThatChangeTheirTypeStopPhase4() throws SQLException {
        try (Legacy snake = new Legacy(Spelling.SNAKE)) {
            snake.run("CREATE VIEW monitor AS SELECT topic FROM outbox");
            for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.RENAMING)) {
                outbox.apply(snake.dataSource(), phase);
            }

            assertThatThrownBy(() -> outbox.apply(snake.dataSource(), Phase.CLEAN))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("view monitor reads the column topic, whose type is going to change; drop it,"
                            + " and create it again after phase 4");

            snake.run("DROP VIEW monitor");
            outbox.apply(snake.dataSource(), Phase.CLEAN);
        }
    }

    @Test
    void unfinishedArrivalsAreRemovedInSmallTransactions() throws SQLException {
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Status]) SELECT 'm' || i, 's',"
                + " CASE WHEN i % 10 = 0 THEN 'Done' ELSE 'Seen' END FROM generate_series(1, 3000) i");
        inbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        inbox.backfill().run(legacy.dataSource());
        inbox.apply(legacy.dataSource(), Phase.DUAL);
        legacy.run("CREATE TABLE removed (tx xid8, rows int)");
        legacy.run("""
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO removed SELECT pg_current_xact_id(), count(*) FROM gone;
                    RETURN NULL;
                END $$
                """);
        legacy.run("CREATE TRIGGER note AFTER DELETE ON inbox REFERENCING OLD TABLE AS gone FOR EACH STATEMENT"
                + " EXECUTE FUNCTION note()");

        inbox.apply(legacy.dataSource(), Phase.FLIPPED);

        assertThat(legacy.value("SELECT count(*), min([Status]) FROM inbox")).isEqualTo("300,Done");
        assertThat(legacy.value("SELECT sum(rows), max(rows), count(DISTINCT tx) FROM removed"))
                .isEqualTo("2700,1000,3");
    }

    @Test
    void aConsumerMayBeCalledAnything() throws SQLException {
        String name = "b$$i$body1$ll%s'ing";
        Upgrade odd =
                Upgrade.inbox("inbox", name).refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Status]) VALUES ('m', 's', 'Done')");
        odd.apply(legacy.dataSource(), Phase.ADDITIVE);
        legacy.run(odd.backfill().render(legacy.dataSource()));
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Status]) VALUES ('n', 's', 'Done')");
        odd.apply(legacy.dataSource(), Phase.DUAL);
        odd.apply(legacy.dataSource(), Phase.FLIPPED);
        odd.back(legacy.dataSource(), Phase.DUAL);

        assertThat(legacy.rows("SELECT DISTINCT consumer FROM inbox")).containsExactly(name);
    }

    @Test
    void viewsAndPublicationsOfOldColumnsStopPhase4() throws SQLException {
        legacy.run("CREATE VIEW monitor AS SELECT [CreatedAt] FROM outbox");
        legacy.run("CREATE PUBLICATION whole FOR TABLE outbox");
        boolean columnLists = Integer.parseInt(legacy.value("SHOW server_version_num")) >= 150_000;
        legacy.run("CREATE PUBLICATION feed FOR TABLE outbox" + (columnLists ? " ([Id], [Topic])" : ""));
        legacy.run("CREATE PUBLICATION everything FOR ALL TABLES");
        to(Phase.FLIPPED);

        assertRefused(Phase.CLEAN, outbox, "view monitor reads the old column CreatedAt; change or drop it first");
        if (columnLists) {
            assertRefused(Phase.CLEAN, outbox, "publication feed reads the old column Topic");
        }
        assertThat(outbox.report(legacy.dataSource()).toString())
                .contains("publication whole sends whole rows: whoever subscribes to it has to manage")
                .contains("publication everything sends whole rows");

        legacy.run("DROP VIEW monitor; DROP PUBLICATION feed");
        outbox.apply(legacy.dataSource(), Phase.CLEAN);
        assertThat(outbox.report(legacy.dataSource()).findings()).isEmpty();
    }

    @Test
    void aForeignKeyToTheOldKeyStopsPhase3() throws SQLException {
        legacy.run("CREATE TABLE receipts (id uuid REFERENCES outbox ([Id]))");
        to(Phase.DUAL);

        assertRefused(
                Phase.FLIPPED,
                outbox,
                "foreign key receipts_id_fkey of receipts names Id, which is going to be dropped; drop it first");
        assertScriptRefused(Phase.FLIPPED, outbox, "a foreign key names a column that is going to be dropped");
        assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.DUAL);

        legacy.run("ALTER TABLE receipts DROP CONSTRAINT receipts_id_fkey");
        outbox.apply(legacy.dataSource(), Phase.FLIPPED);
    }

    @Test
    void aFlipThatWasBegunIsToldOfAndCanBeTakenBack() throws SQLException {
        for (Phase phase : new Phase[] {Phase.ADDITIVE, Phase.DUAL}) {
            inbox.apply(legacy.dataSource(), phase);
        }
        String flip = inbox.render(legacy.dataSource(), Phase.FLIPPED);
        int checks = flip.indexOf("COMMIT;", flip.indexOf("inbox_finished"));
        legacy.run(flip.substring(0, checks + "COMMIT;".length()));
        String seen = "INSERT INTO inbox ([MessageId], [Source], [Status]) VALUES ('m', 'shop', 'Seen')";

        assertThatThrownBy(() -> legacy.run(seen)).hasMessageContaining("inbox_finished");
        assertThat(inbox.report(legacy.dataSource()).findings())
                .extracting(Finding::concern)
                .containsExactly(Concern.INTERRUPTED);

        inbox.back(legacy.dataSource(), Phase.DUAL);

        legacy.run(seen);
        assertThat(inbox.report(legacy.dataSource()).findings()).isEmpty();
    }

    /** It leaves when it has been in the way for a second, {@code deadlock_timeout}. */
    @Test
    void anAutovacuumDoesNotStopAChange() throws SQLException {
        legacy.run(
                "INSERT INTO outbox ([Topic], [Payload]) SELECT 't', repeat('p', 1000) FROM generate_series(1, 5000)");
        legacy.run("ALTER TABLE outbox SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,"
                + " autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0)");
        legacy.run("DELETE FROM outbox WHERE ctid IN (SELECT ctid FROM outbox LIMIT 100)");
        legacy.run("ALTER SYSTEM SET autovacuum = on");
        legacy.run("ALTER SYSTEM SET autovacuum_naptime = '1s'");
        try {
            legacy.run("SELECT pg_reload_conf()");
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> legacy.value(
                                    "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'outbox'::regclass")
                            .equals("1"));

            outbox.apply(legacy.dataSource(), Phase.ADDITIVE);

            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
        } finally {
            legacy.run("ALTER SYSTEM RESET autovacuum");
            legacy.run("ALTER SYSTEM RESET autovacuum_naptime");
            legacy.run("SELECT pg_reload_conf()");
        }
    }

    @Test
    void aPollerThatStillReadsThePhaseBeforeIsWaitedFor() throws SQLException {
        to(Phase.DUAL);
        OutboxMigrations.installAdmin(legacy.dataSource());
        legacy.run("INSERT INTO outbox_pollers (started_on, seen_on, lease_ms, longest_delivery_ms, phase, table_name,"
                + " poller, version) SELECT clock_timestamp(), clock_timestamp() - ago, 0, 0, '1', '"
                + outbox.report(legacy.dataSource()).table() + "', 'node-' || ago, '1'"
                + " FROM (VALUES (interval '0'), (interval '1 hour')) AS seen(ago)");

        assertRefused(Phase.FLIPPED, outbox, "a poller that is alive still reads a phase before phase 2");
        assertScriptRefused(Phase.FLIPPED, outbox, "a poller that is alive still reads a phase before phase 2");

        legacy.run("UPDATE outbox_pollers SET phase = '2'");
        outbox.apply(legacy.dataSource(), Phase.FLIPPED);
    }

    @Test
    void aPollerThatHasNotNoticedTheRenamingIsWaitedFor() throws SQLException {
        try (Legacy snake = new Legacy(Spelling.SNAKE)) {
            OutboxMigrations.installAdmin(snake.dataSource());
            for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.FLIPPED)) {
                outbox.apply(snake.dataSource(), phase);
            }
            PostgresOutbox node = PostgresOutbox.builder(snake.dataSource())
                    .refreshInterval(Duration.ofMinutes(1))
                    .build();
            Source flipped = node.source();
            heartbeat(flipped);
            outbox.apply(snake.dataSource(), Phase.RENAMING);

            String refusal = "a poller that is alive still reads a phase before phase 3 renaming";
            assertThatThrownBy(() -> outbox.apply(snake.dataSource(), Phase.CLEAN))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining(refusal);
            String script = outbox.render(snake.dataSource(), Phase.CLEAN);
            assertThatThrownBy(() -> snake.run(script))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining(refusal);

            heartbeat(PostgresOutbox.builder(snake.dataSource())
                    .refreshInterval(Duration.ofMinutes(1))
                    .build()
                    .source());
            outbox.apply(snake.dataSource(), Phase.CLEAN);
        }
    }

    private static void heartbeat(Source source) {
        Duration any = Duration.ofSeconds(1);
        source.heartbeat(new Heartbeat("node", "1", any, any, any, any, null, null, false));
    }

    /** It may have to be repeated many times, and others wait meanwhile. */
    @Test
    void noTransactionThatLocksTheTableLooksThroughItsRows() throws SQLException {
        try (Legacy snake = new Legacy(Spelling.SNAKE)) {
            List<String> scripts = new ArrayList<>();
            for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.CLEAN)) {
                scripts.add(inbox.render(snake.dataSource(), phase));
                inbox.apply(snake.dataSource(), phase);
                if (phase == Phase.ADDITIVE) {
                    scripts.add(inbox.renderBack(snake.dataSource(), Phase.LEGACY));
                } else if (phase == Phase.FLIPPED) {
                    scripts.add(inbox.renderBack(snake.dataSource(), Phase.DUAL));
                }
            }
            List<String> locking = scripts.stream()
                    .flatMap(script -> Arrays.stream(script.split("COMMIT;")))
                    .filter(transaction -> transaction.contains("DROP COLUMN") || transaction.contains("ADD COLUMN"))
                    .toList();
            assertThat(locking).hasSizeGreaterThan(3).noneMatch(transaction -> transaction.contains("count(*) FILTER"));
        }
    }

    @Test
    void anIndexThatABuildLeftInvalidIsFoundAndRebuilt() throws SQLException {
        to(Phase.DUAL);
        legacy.run("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'outbox_ready'::regclass");
        legacy.run("DROP INDEX outbox_done");

        assertThat(outbox.report(legacy.dataSource()).problems())
                .extracting(Finding::text)
                .containsExactlyInAnyOrder(
                        "index outbox_ready was left invalid by a failed build; run phase 2 again, which rebuilds it",
                        "index outbox_done is missing; run phase 2 again");
        assertRefused(Phase.FLIPPED, outbox, "outbox_ready was left invalid", "outbox_done is missing");

        outbox.apply(legacy.dataSource(), Phase.DUAL);
        assertThat(outbox.report(legacy.dataSource()).findings()).isEmpty();
    }

    @Test
    void aLegacyTableThatCannotBeTakenOverIsSaidSo() throws SQLException {
        legacy.run("ALTER TABLE outbox DROP COLUMN [Payload], ALTER COLUMN [CreatedAt] DROP DEFAULT,"
                + " ALTER COLUMN [CreatedAt] TYPE text, ADD COLUMN region text NOT NULL");

        assertRefused(
                Phase.ADDITIVE,
                outbox,
                "no column stands for payload",
                "column CreatedAt is text, which created_on (timestamp with time zone) cannot be made from",
                "column region is none of the outbox's, must not be null and has no default");

        legacy.run("ALTER TABLE outbox ADD COLUMN topic_ text");
        legacy.run("ALTER TABLE outbox ADD COLUMN [topic__] text");
        assertThatThrownBy(() -> outbox.report(legacy.dataSource()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("has more than one column for topic: Topic, topic_, topic__");
    }

    @Test
    void theReportIsForPeopleToo() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");
        legacy.run("INSERT INTO outbox ([Topic], [Payload], [IsProcessed]) VALUES ('t', 'p', true)");
        assertThat(outbox.report(legacy.dataSource()))
                .hasToString(
                        "public.outbox: phase 0\n  1 rows have a IsProcessed that contradicts their status; the backfill"
                                + " will make them Done");
        outbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        TableReport report = outbox.report(legacy.dataSource());
        assertThat(report.toString())
                .matches(
                        "(?s)public\\.outbox: phase 1 since \\S+Z\n"
                                + "  2 rows are not backfilled; run the backfill \\[blocks phase 2, phase 3, phase 3 renaming]");
        assertThat(report.next()).isEqualTo(Phase.DUAL);
    }

    @Test
    void aChangeThatFindsTheTableLockedStepsBackAndTriesAgain() throws Exception {
        try (Connection holder = legacy.dataSource().getConnection();
                Statement hold = holder.createStatement()) {
            holder.setAutoCommit(false);
            hold.execute("INSERT INTO outbox (\"Topic\", \"Payload\") VALUES ('t', 'p')");

            Upgrade hasty = outbox.lockTimeout(Duration.ofMillis(50), Duration.ofMillis(1));
            assertThatThrownBy(() -> hasty.apply(legacy.dataSource(), Phase.ADDITIVE))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("canceling statement due to lock timeout");
            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.LEGACY);

            Thread patient = new Thread(() -> outbox.lockTimeout(Duration.ofMillis(50), Duration.ofMinutes(5))
                    .apply(legacy.dataSource(), Phase.ADDITIVE));
            patient.start();
            while (patient.isAlive()
                    && legacy.value("SELECT count(*) FROM pg_locks WHERE NOT granted")
                            .equals("0")) {
                Thread.onSpinWait();
            }
            holder.commit();
            patient.join(300_000);
            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
        }
    }

    @Test
    void theCommentOfTheTableKeepsWhatElseItSays() throws SQLException {
        legacy.run("COMMENT ON TABLE outbox IS E'Owned by billing.\\nSee the wiki.'");
        to(Phase.DUAL);

        assertThat(legacy.value("SELECT obj_description('outbox'::regclass)"))
                .matches("(?s)Owned by billing\\.\nSee the wiki\\.\ndev\\.outbox phase 2 since \\S+");
    }

    @Test
    void fromEachPhaseThereIsAWayBack() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload]) VALUES ('m', 's', 't', 'p')");
        var before = Catalog.describe(legacy.dataSource(), "public", "outbox");
        to(Phase.FLIPPED);
        inbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        inbox.backfill().run(legacy.dataSource());
        inbox.apply(legacy.dataSource(), Phase.DUAL);
        inbox.apply(legacy.dataSource(), Phase.FLIPPED);

        legacy.run("INSERT INTO outbox (work_item_id, topic, payload, message_key)"
                + " VALUES (gen_random_uuid(), 't', 'new', 'k')");
        assertThatThrownBy(() -> outbox.back(legacy.dataSource(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 unfinished messages have a key");
        legacy.run("UPDATE outbox SET message_key = NULL");
        for (Upgrade upgrade : new Upgrade[] {outbox, inbox}) {
            upgrade.back(legacy.dataSource(), Phase.DUAL);
            assertThat(upgrade.report(legacy.dataSource()).problems()).isEmpty();
        }
        legacy.run("UPDATE outbox SET [RetryCount] = 5");
        assertThat(legacy.value("SELECT min(attempt_count) FROM outbox")).isEqualTo("5");
        try (Connection connection = legacy.dataSource().getConnection()) {
            OldInbox old = new OldInbox(legacy.spelling, "inbox");
            assertThat(old.alreadyProcessed(connection, "m", "s", null)).isFalse();
            assertThat(old.alreadyProcessed(connection, "new", "s", null)).isFalse();
        }

        outbox.apply(legacy.dataSource(), Phase.FLIPPED);
        outbox.back(legacy.dataSource(), Phase.DUAL);
        outbox.back(legacy.dataSource(), Phase.ADDITIVE);
        outbox.back(legacy.dataSource(), Phase.LEGACY);
        assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.LEGACY);
        assertThat(legacy.value("SELECT count(*) FROM outbox WHERE [Payload] IN ('p', 'new')"))
                .isEqualTo("2");
        assertThat(Catalog.describe(legacy.dataSource(), "public", "outbox"))
                .filteredOn(line -> line.startsWith("column"))
                .extracting(line -> line.replaceAll(" (not null|comment=.*)", ""))
                .isEqualTo(before.stream()
                        .filter(line -> line.startsWith("column"))
                        .map(line -> line.replaceAll(" (not null|comment=.*)", ""))
                        .toList());

        to(Phase.DUAL);
        assertThat(outbox.report(legacy.dataSource()).findings()).isEmpty();
    }
}
