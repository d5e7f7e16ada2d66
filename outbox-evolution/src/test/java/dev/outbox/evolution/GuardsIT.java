package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.TableReport;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What the report finds, and that a phase refuses to run while it does. */
class GuardsIT extends WithLegacyTables {
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
                "1 rows have other values in old columns");
        assertScriptRefused(Phase.DUAL, outbox, "outbox_sync_written is missing or disabled");

        outbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        assertScriptRefused(Phase.DUAL, outbox, "1 rows have other values in old columns");
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
                "it came to phase 2 less than PT2M ago, and some nodes may not have noticed");
        assertScriptRefused(Phase.FLIPPED, outbox.refreshInterval(Duration.ofMinutes(1)), "less than PT2M ago");

        try (Connection connection = legacy.dataSource().getConnection()) {
            OldApplication old = new OldApplication(legacy.spelling, "outbox");
            old.enqueue(connection, "t", "p", null, null);
            UUID owner = UUID.randomUUID();
            old.acknowledge(
                    connection, owner, old.claim(connection, owner, 1).get(0).id());
        }
        Upgrade patient = outbox.quietFor(Duration.ofHours(1));
        String refusal =
                "an application wrote columns that are going to be dropped, and only those, within the last PT1H";
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
                "no column was found for payload",
                "column CreatedAt is text, from which created_on (timestamp with time zone) cannot be made",
                "column region does not belong to the library, is NOT NULL and has no default");

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
    void theCommentOfTheTableKeepsWhatElseItSays() throws SQLException {
        legacy.run("COMMENT ON TABLE outbox IS E'Owned by billing.\\nSee the wiki.'");
        to(Phase.DUAL);

        assertThat(legacy.value("SELECT obj_description('outbox'::regclass)"))
                .matches("(?s)Owned by billing\\.\nSee the wiki\\.\ndev\\.outbox phase 2 since \\S+");
    }

    @Test
    void aCanonicalTableWithoutAMarkerIsInPhase4() throws SQLException {
        OutboxMigrations.install(legacy.dataSource(), "unmarked");
        legacy.run("COMMENT ON TABLE unmarked IS 'ours'");

        assertThat(Upgrade.outbox("unmarked").phase(legacy.dataSource())).isEqualTo(Phase.CLEAN);
    }

    @Test
    void aTableBetweenTwoPhasesWithoutItsMarkerIsRefused() throws SQLException {
        to(Phase.ADDITIVE);
        legacy.run("COMMENT ON TABLE outbox IS NULL");

        assertRefused(Phase.DUAL, outbox, "between two phases", "restore the line");
    }

    @Test
    void aTableOfTheOtherKindIsRefused() {
        OutboxMigrations.installInbox(legacy.dataSource(), "arrivals");

        assertThatThrownBy(() -> Upgrade.outbox("arrivals").report(legacy.dataSource()))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public.arrivals\" is an inbox table; use Upgrade.inbox(...)");
    }

    @Test
    void aTableWhereTheDatabaseDoesNotLookIsNotFound() throws SQLException {
        legacy.run("CREATE SCHEMA hidden");
        OutboxMigrations.install(legacy.dataSource(), "hidden.box");

        assertThatThrownBy(() -> Upgrade.outbox("box").report(legacy.dataSource()))
                .isInstanceOf(OutboxException.class)
                .hasMessageContainingAll("table \"box\" not found", "write schema.table");
        assertThat(Upgrade.outbox("hidden.box").report(legacy.dataSource()).findings())
                .isEmpty();
    }
}
