package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The commands that look at tables and items, and the purge. */
class CommandsIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Database.extension();

    private Database database;
    private TestCli cli;

    @BeforeEach
    void connect(EmbeddedDatabase fresh) {
        database = new Database(fresh);
        cli = database.cli();
    }

    @Test
    void statusTellsOfCountsTopicsAndBlockedKeys() {
        database.threeDeadAndABlockedKey();

        TestCli.Result result = cli.run("status");

        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        assertThat(result.out())
                .contains("public.outbox (outbox, phase 4)", "public.inbox (inbox, phase 4)")
                .contains("ready 1   processing 0   dead 3")
                .containsPattern("TOPIC +READY +PROCESSING +DEAD")
                .containsPattern("orders.paid +1 +0 +0")
                .containsPattern("order-42 +1 +outbox/[0-9a-f-]{36} +1 +dead, needs requeue or discard: .*poison.c")
                .doesNotContain("\u001b", "4111");
    }

    @Test
    void statusAndDoctorTellOfAnErrorThatAPollerSurvived() throws Exception {
        database.execute("""
                INSERT INTO outbox_pollers (started_on, seen_on, last_error_on, last_error, lease_ms, longest_delivery_ms,
                    phase, table_name, poller, version)
                VALUES (statement_timestamp(), statement_timestamp(), statement_timestamp() - interval '5 minutes',
                    'java.lang.OutOfMemoryError: Java heap space', 30000, 10, 4, 'public.outbox', 'node-1', '1')
                """);

        assertThat(cli.run("status").out())
                .containsPattern("LONGEST DELIVERY +LAST ERROR")
                .containsPattern("node-1 .*Z java.lang.OutOfMemoryError: Java heap space");
        TestCli.Result doctor = cli.run("doctor");
        assertThat(doctor.code()).isEqualTo(ExitCode.FAILED);
        assertThat(doctor.out())
                .contains("poller node-1 of public.outbox survived an error")
                .contains("Z: java.lang.OutOfMemoryError: Java heap space");
    }

    @Test
    void statusAndDoctorSayThatAPartitionedTableIsRefused() throws Exception {
        database.execute("ALTER TABLE outbox RENAME TO plain");
        database.execute("CREATE TABLE outbox (LIKE plain) PARTITION BY HASH (work_item_id)");

        for (String command : List.of("status", "doctor")) {
            TestCli.Result result = cli.run(command);

            assertThat(result.code()).as(command).isNotEqualTo(ExitCode.OK);
            assertThat(result.err() + result.out())
                    .as(command)
                    .contains(
                            "table \"public.outbox\" is partitioned, but an outbox or inbox must be an ordinary table")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void statusForScriptsIsOneLinePerTable() {
        database.threeDeadAndABlockedKey();

        List<JsonNode> tables = cli.run("status", "--json", "--exact").json();

        assertThat(tables).extracting(table -> table.get("kind").asText()).containsExactly("outbox", "inbox");
        assertThat(tables.get(0).get("done").asLong()).isEqualTo(1);
        assertThat(tables.get(0).get("blocked").get(0).get("key").asText()).isEqualTo("order-42");
    }

    @Test
    void statusIsWatchedWithoutATerminalAsOneAfterTheOther() {
        TestCli.Result result = cli.run("status", "--watch=100ms", "--times=2", "--json");

        assertThat(result.json()).hasSize(4);
    }

    @Test
    void itemsAreFoundByWhatTheyHaveInCommon() {
        database.threeDeadAndABlockedKey();

        assertThat(cli.run("find", "--key=order-42").out().lines().toList())
                .hasSize(3)
                .anySatisfy(line -> assertThat(line).contains("poison.c", "dead, blocks its key"))
                .anySatisfy(line -> assertThat(line).contains("orders.paid", "ready"));
        assertThat(cli.run("find", "--correlation=c-1").out()).contains("poison.b");
        assertThat(cli.run("find", "--tenant=acme", "--json").json().get(0).get("items"))
                .hasSize(1);
        assertThat(cli.run("find", "--key=nobody")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.out()).contains("nothing found");
        });
    }

    @Test
    void purgeCountsFirstAndRemovesDoneItemsAlone() {
        database.threeDeadAndABlockedKey();

        assertThat(cli.run("purge", "--older-than=0s", "--dry-run").out()).contains("would be removed: 1 item");
        assertThat(cli.run("purge", "--older-than=0s")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("--yes");
        });
        assertThat(cli.run("purge", "--older-than=1d", "--yes").out()).contains("removed: 0 items");
        assertThat(cli.run("purge", "--older-than=0s", "--yes").out()).contains("removed: 1 item");
        assertThat(cli.run("purge", "--older-than=1h", "--in=inbox", "--yes")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("--older-than must be at least --max-redelivery, PT168H, was PT1H");
        });
        assertThat(cli.dead()).hasSize(3);
    }

    @Test
    void theDoctorSaysWhatNeedsAPersonAndOnRequestWhatDoesNot() {
        TestCli.Result healthy = cli.run("doctor", "--all");

        assertThat(healthy.code()).as(healthy.out()).isEqualTo(ExitCode.OK);
        assertThat(healthy.out()).contains("OK ", "0 need a person").doesNotContain("WARN");

        database.threeDeadAndABlockedKey();
        TestCli.Result sick = cli.run("doctor");

        assertThat(sick.code()).isEqualTo(ExitCode.FAILED);
        assertThat(sick.out()).contains("WARN", "order-42", "advice: ").doesNotContain("OK ");
        assertThat(cli.run("doctor", "--json").json())
                .extracting(found -> found.get("severity").asText())
                .contains("WARN")
                .doesNotContain("OK");
    }
}
