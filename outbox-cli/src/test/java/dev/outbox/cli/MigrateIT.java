package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.evolution.LegacyTables;
import dev.outbox.evolution.Spelling;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The commands about the layout of tables. */
class MigrateIT {
    private final EmbeddedDatabase empty = EmbeddedDatabase.create();
    private final Database database = new Database(empty);
    private final TestCli cli = database.cli();

    @AfterEach
    void drop() {
        empty.close();
    }

    private String ok(String... args) {
        TestCli.Result result = cli.run(args);
        assertThat(result.code())
                .as("%s: %s", String.join(" ", args), result.err())
                .isEqualTo(ExitCode.OK);
        return result.out();
    }

    @Test
    void missingTablesAreInstalledOnceAndThenAreAsTheyShouldBe() {
        assertThat(ok("migrate", "plan")).contains("outbox: missing; outbox migrate apply --install --only outbox");
        assertThat(ok("migrate", "render", "--install")).contains("CREATE TABLE \"outbox\"", "CREATE TABLE \"inbox\"");
        assertThat(ok("migrate", "render", "--admin")).contains("outbox_audit", "outbox_pollers");

        assertThat(ok("migrate", "apply", "--install")).contains("outbox: created", "inbox: created");
        assertThat(ok("migrate", "apply", "--install", "--only=outbox"))
                .contains("outbox: is there already")
                .doesNotContain("inbox");
        assertThat(ok("migrate", "apply", "--admin")).contains("created");
        assertThat(ok("migrate", "apply", "--admin")).contains("are there already");
        assertThat(ok("migrate", "render", "--lookup")).contains("CREATE INDEX");
        assertThat(ok("migrate", "apply", "--lookup")).contains("outbox: lookup indexes are there");

        assertThat(ok("migrate", "plan")).contains("outbox: phase 4; nothing to do");
        assertThat(ok("migrate", "status")).contains("public.outbox: phase 4", "public.inbox: phase 4");
        assertThat(ok("backfill")).contains("there is nothing to backfill");
        assertThat(ok("verify")).contains("nothing is wrong");
    }

    @Test
    void aTableThatIsWrongFailsTheVerification() throws SQLException {
        ok("migrate", "apply", "--install", "--only=outbox");
        database.execute("ALTER TABLE outbox DROP COLUMN tenant_id");

        TestCli.Result result = cli.run("verify", "--json");

        assertThat(result.code()).isEqualTo(ExitCode.FAILED);
        JsonNode report = result.json().get(0);
        assertThat(report.get("phase").asText()).isEqualTo("CLEAN");
        assertThat(report.get("findings").findValuesAsText("concern")).contains("COLUMN_MISSING");
        assertThat(cli.run("verify").out()).contains("wrong", "tenant_id");
    }

    @Test
    void aLegacyTableIsTakenAllTheWay() throws SQLException {
        database.execute(LegacyTables.outbox(Spelling.SNAKE, "outbox"));
        database.execute("INSERT INTO outbox (topic, payload) SELECT 'orders', '{}' FROM generate_series(1, 120)");
        String[] now = {"--refresh-interval=0s", "--quiet-for=0s"};

        assertThat(ok("migrate", "plan")).contains("outbox: phase 0 to phase 1; outbox migrate apply --phase additive");
        assertThat(ok("migrate", "render", "--phase=1", "--only=outbox")).contains("ALTER TABLE", "COMMIT;");
        assertThat(cli.run("migrate", "apply", "--phase=2").err()).contains("is in phase 0 and cannot go to phase 2");
        assertThat(ok("migrate", "apply", "--phase=1", "--dry-run")).contains("would go from phase 0 to phase 1");
        assertThat(ok("migrate", "apply", "--phase=1")).contains("phase 1");
        TestCli.Result early = cli.run("migrate", "apply", "--phase=2");
        assertThat(early.code()).isEqualTo(ExitCode.FAILED);
        assertThat(early.err()).contains("not ready for phase 2");

        assertThat(ok("backfill", "--batch=50", "--pause=0s")).contains("outbox: 120 rows completed");
        ok("migrate", "apply", "--phase=dual");
        assertThat(cli.run("migrate", "apply", "--phase=3").err()).contains("not ready for phase 3");
        ok("migrate", "apply", "--phase=3", now[0], now[1]);
        assertThat(ok("migrate", "plan", now[0]))
                .contains("phase 3 to phase 3 renaming; outbox migrate apply --phase renaming");
        assertThat(cli.run("migrate", "apply", "--phase=4", now[0], now[1], "--yes")
                        .err())
                .contains("its next is phase 3 renaming");
        TestCli.Result unasked = cli.run("migrate", "apply", "--phase=renaming", now[0], now[1]);
        assertThat(unasked.code()).isEqualTo(ExitCode.USAGE);
        assertThat(unasked.err()).contains("Drop the old columns of public.outbox?", "--yes");
        ok("migrate", "apply", "--phase=renaming", now[0], now[1], "--yes");
        ok("migrate", "apply", "--phase=4", now[0], now[1], "--yes");

        assertThat(ok("migrate", "apply", "--phase=2")).contains("is in phase 4 already");
        assertThat(ok("verify")).contains("nothing is wrong");
        assertThat(ok("status")).contains("ready 120");
    }

    /** What an earlier version left open is closed by the phase that the table is in. */
    @Test
    void thePhaseThatATableIsInIsAppliedAgain() throws SQLException {
        database.execute(LegacyTables.outbox(Spelling.SNAKE, "outbox"));
        String[] now = {"--refresh-interval=0s", "--quiet-for=0s"};
        for (String phase : List.of("1", "2", "3", "renaming")) {
            String step = "--phase=" + phase;
            ok("migrate", "apply", step, now[0], now[1], "--yes");
            database.execute("GRANT EXECUTE ON FUNCTION outbox_sync() TO PUBLIC");

            assertThat(ok("migrate", "apply", step, now[0], now[1], "--dry-run"))
                    .contains("its step would be taken again");
            assertThat(isOpen()).isTrue();
            ok("migrate", "apply", step, now[0], now[1]);
            assertThat(isOpen()).as("phase " + phase).isFalse();
        }
    }

    private boolean isOpen() throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT EXISTS (SELECT FROM pg_proc,"
                        + " aclexplode(COALESCE(proacl, acldefault('f', proowner))) WHERE proname = 'outbox_sync'"
                        + " AND grantee = 0)")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    @Test
    void aTableWhereTheDatabaseDoesNotLookIsNotFoundUnlessItsSchemaIsNamed() throws SQLException {
        database.execute("CREATE SCHEMA hidden");
        OutboxMigrations.install(database.dataSource(), "hidden.outbox");

        assertThat(ok("migrate", "plan", "--only=outbox")).contains("outbox: missing");
        for (String command : List.of("verify", "backfill")) {
            TestCli.Result result = cli.run(command);
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.err()).contains("there is no outbox table \"outbox\"", "schema.table");
        }
        assertThat(ok("migrate", "plan", "--only=outbox", "--outbox=hidden.outbox"))
                .contains("hidden.outbox: phase 4; nothing to do");
        assertThat(ok("verify", "--outbox=hidden.outbox")).contains("nothing is wrong");
    }

    @Test
    void aSchemaMayHaveAnyName() throws SQLException {
        for (String schema : List.of("tenant-a", "it's 100%")) {
            String outbox = "--outbox=" + schema + ".outbox";
            String[] now = {"--refresh-interval=0s", "--quiet-for=0s"};
            database.execute("CREATE SCHEMA \"" + schema + "\"; SET search_path TO \"" + schema + "\"; "
                    + LegacyTables.outbox(Spelling.SNAKE, "outbox")
                    + "; INSERT INTO outbox (topic, payload) VALUES ('orders', '{}')");

            ok("migrate", "apply", "--install", "--only=inbox", "--inbox=" + schema + ".inbox");
            assertThat(ok("migrate", "plan", "--only=outbox", outbox)).contains("phase 0 to phase 1");
            for (String phase : List.of("1", "2", "3", "renaming", "4")) {
                ok("migrate", "apply", "--phase=" + phase, "--only=outbox", outbox, now[0], now[1], "--yes");
                ok("backfill", "--only=outbox", outbox);
            }
            assertThat(ok("verify", "--only=outbox", outbox)).contains("nothing is wrong");

            Outbox opened = PostgresOutbox.builder(database.dataSource())
                    .table(schema + ".outbox")
                    .build();
            opened.transaction(
                    database.dataSource(),
                    tx -> opened.enqueue(tx, Message.to("orders").payload("{}")));
            assertThat(PostgresInbox.builder(database.dataSource())
                            .table(schema + ".inbox")
                            .consumer("billing")
                            .build())
                    .isNotNull();
        }
    }

    @Test
    void aLegacyInboxNeedsItsConsumer() throws SQLException {
        database.execute(LegacyTables.inbox(Spelling.SNAKE, "inbox"));

        TestCli.Result result = cli.run("migrate", "apply", "--phase=1");

        assertThat(result.code()).isEqualTo(ExitCode.USAGE);
        assertThat(result.err()).contains("--consumer");
        assertThat(ok("migrate", "status")).contains("public.inbox: phase 0");
        assertThat(ok("migrate", "apply", "--phase=1", "--consumer=billing")).contains("phase 1");
    }
}
