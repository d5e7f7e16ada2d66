package dev.outbox.cli;

import static dev.outbox.cli.Database.message;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.evolution.LegacyTables;
import dev.outbox.evolution.Spelling;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import java.io.PrintWriter;
import java.io.Writer;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import picocli.CommandLine;

/** With {@code --dry-run} a command changes nothing, and says what it would do. */
class DryRunIT {
    /** What a command finds when it starts. */
    private interface Setup {
        void in(Database database) throws SQLException;
    }

    /** @param says what the dry run prints, among other things */
    private record Case(Setup setup, List<String> command, String... says) {
        @Override
        public String toString() {
            return String.join(" ", command);
        }
    }

    private static final List<Case> CASES = List.of(
            new Case(DryRunIT::deadItems, List.of("dead", "requeue", "--all", "--because=x"), "would be requeued: 2"),
            new Case(DryRunIT::deadItems, List.of("dead", "discard", "--all", "--because=x"), "would be discarded: 2"),
            new Case(DryRunIT::deadItems, List.of("purge", "--older-than=0s"), "would be removed: 1 item"),
            new Case(
                    DryRunIT::nothing,
                    List.of("migrate", "apply", "--install"),
                    "outbox: would be created",
                    "inbox: would be created"),
            new Case(
                    DryRunIT::outboxAlone,
                    List.of("migrate", "apply", "--install"),
                    "outbox: is there already",
                    "inbox: would be created"),
            new Case(
                    DryRunIT::outboxAlone,
                    List.of("migrate", "apply", "--admin"),
                    "outbox_audit: would be created",
                    "outbox_pollers: would be created"),
            new Case(
                    DryRunIT::auditAlone,
                    List.of("migrate", "apply", "--admin"),
                    "outbox_audit: is there already",
                    "outbox_pollers: would be created"),
            new Case(
                    DryRunIT::outboxAlone,
                    List.of("migrate", "apply", "--lookup"),
                    "outbox: would be created: outbox_by_key, outbox_by_related, outbox_by_tenant"),
            new Case(
                    DryRunIT::legacyTable,
                    List.of("migrate", "apply", "--phase=1"),
                    "outbox: would go from phase 0 to phase 1"));

    private static void nothing(Database database) {}

    private static void outboxAlone(Database database) {
        OutboxMigrations.install(database.dataSource());
    }

    private static void auditAlone(Database database) throws SQLException {
        OutboxMigrations.installAdmin(database.dataSource());
        database.execute("DROP TABLE outbox_pollers");
    }

    private static void deadItems(Database database) {
        OutboxMigrations.install(database.dataSource());
        OutboxMigrations.installInbox(database.dataSource());
        OutboxMigrations.installAdmin(database.dataSource());
        database.enqueue(message("poison.a"), message("poison.b").key("order-42"), message("orders.placed"));
        database.poll();
    }

    private static void legacyTable(Database database) throws SQLException {
        database.execute(LegacyTables.outbox(Spelling.SNAKE, "outbox"));
        database.execute("INSERT INTO outbox (topic, payload) SELECT 'orders', '{}' FROM generate_series(1, 20)");
    }

    @TestFactory
    Stream<DynamicTest> aDryRunChangesNothingAndTheSameCommandWithoutItDoes() {
        return CASES.stream().map(each -> DynamicTest.dynamicTest(each.toString(), () -> check(each)));
    }

    private static void check(Case each) throws SQLException {
        try (EmbeddedDatabase fresh = EmbeddedDatabase.create()) {
            Database database = new Database(fresh);
            each.setup.in(database);
            List<String> before = DatabaseDump.of(database.dataSource());

            String said = ok(database, each.command, "--dry-run");

            assertThat(DatabaseDump.of(database.dataSource()))
                    .as("after the dry run")
                    .isEqualTo(before);
            assertThat(said).contains(each.says);
            assertThat(ok(database, each.command, "--dry-run", "--yes"))
                    .as("a yes does not count in a dry run")
                    .isEqualTo(said);
            assertThat(DatabaseDump.of(database.dataSource())).isEqualTo(before);

            ok(database, each.command, "--yes");
            assertThat(DatabaseDump.of(database.dataSource()))
                    .as("there was something to do")
                    .isNotEqualTo(before);
        }
    }

    @Test
    void aDryRunSaysWhatIsThereAlready() {
        try (EmbeddedDatabase fresh = EmbeddedDatabase.create()) {
            Database database = new Database(fresh);
            for (String what : List.of("--install", "--admin", "--lookup")) {
                List<String> command = List.of("migrate", "apply", what);
                ok(database, command);

                assertThat(ok(database, command, "--dry-run"))
                        .contains("there already")
                        .doesNotContain("would");
            }
        }
    }

    @Test
    void aDryRunOfEveryPhaseChangesNothing() throws SQLException {
        List<String> now = List.of("--refresh-interval=0s", "--quiet-for=0s", "--yes");
        try (EmbeddedDatabase fresh = EmbeddedDatabase.create()) {
            Database database = new Database(fresh);
            legacyTable(database);
            for (String phase : List.of("1", "2", "3", "renaming", "4")) {
                List<String> command = new ArrayList<>(List.of("migrate", "apply", "--phase=" + phase));
                command.addAll(now);
                List<String> before = DatabaseDump.of(database.dataSource());

                assertThat(ok(database, command, "--dry-run")).contains("would go from");

                assertThat(DatabaseDump.of(database.dataSource()))
                        .as("phase %s", phase)
                        .isEqualTo(before);
                ok(database, command);
                if (phase.equals("1")) {
                    ok(database, List.of("backfill", "--pause=0s"));
                }
            }
        }
    }

    /** A command that gets the option, or another thing to do, needs a case here. */
    @Test
    void everyCommandWithTheOptionHasACaseForEachThingItDoes() {
        List<String> needed = new ArrayList<>();
        PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
        collect(Cli.commandLine(new Environment(Map.of(), nowhere, nowhere, Terminal.NONE)), needed);

        assertThat(needed).contains("outbox purge", "outbox migrate apply --install");
        assertThat(needed)
                .allSatisfy(command -> assertThat(CASES)
                        .as(command)
                        .anySatisfy(each -> assertThat("outbox " + each).startsWith(command)));
    }

    private static void collect(CommandLine line, List<String> needed) {
        line.getSubcommands().values().forEach(sub -> collect(sub, needed));
        CommandLine.Model.CommandSpec spec = line.getCommandSpec();
        if (spec.findOption("--dry-run") == null) {
            return;
        }
        if (spec.argGroups().isEmpty()) {
            needed.add(spec.qualifiedName());
        }
        spec.argGroups()
                .forEach(group -> group.options()
                        .forEach(option -> needed.add(spec.qualifiedName() + " " + option.longestName())));
    }

    private static String ok(Database database, List<String> command, String... more) {
        List<String> args = new ArrayList<>(command);
        args.addAll(List.of(more));
        TestCli.Result result = database.cli().run(args.toArray(String[]::new));
        assertThat(result.code()).as("%s: %s", args, result.err()).isEqualTo(ExitCode.OK);
        return result.out();
    }
}
