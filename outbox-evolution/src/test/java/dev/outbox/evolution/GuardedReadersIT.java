package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Heartbeat;
import dev.outbox.spi.Source;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;

/** Who reads a table besides its applications, or reads an earlier phase of it, keeps it from phases that would break them. */
class GuardedReadersIT extends WithLegacyTables {
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
                .contains("publication whole sends whole rows: its subscribers have to work")
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
            Outbox node = PostgresOutbox.builder(snake.dataSource())
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
}
