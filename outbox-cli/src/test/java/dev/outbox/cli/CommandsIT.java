package dev.outbox.cli;

import static dev.outbox.cli.Database.message;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The commands that look at items and change them. */
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

    private void threeDeadAndABlockedKey() {
        database.enqueue(
                message("poison.a").tenantId("acme"),
                message("poison.b").correlationId("c-1"),
                message("poison.c").key("order-42"),
                message("orders.paid").key("order-42"),
                message("orders.placed"));
        database.poll();
    }

    private List<JsonNode> dead() {
        TestCli.Result result = cli.run("dead", "list", "--json");
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        List<JsonNode> items = new java.util.ArrayList<>();
        result.json().get(0).get("items").forEach(items::add);
        return items;
    }

    private static String refOf(List<JsonNode> items, String topic) {
        return items.stream()
                .filter(item -> item.get("topic").asText().equals(topic))
                .findFirst()
                .orElseThrow()
                .get("ref")
                .asText();
    }

    @Test
    void statusTellsOfCountsTopicsAndBlockedKeys() {
        threeDeadAndABlockedKey();

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
        threeDeadAndABlockedKey();

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
    void deadItemsAreListedFilteredAndPaged() {
        threeDeadAndABlockedKey();

        assertThat(cli.run("dead", "list").out())
                .contains("poison.a", "poison.b", "poison.c", "dead, blocks its key", "cannot be parsed")
                .doesNotContain("orders.placed", "4111");
        assertThat(cli.run("dead", "list", "--topic=poison.a").out())
                .contains("poison.a")
                .doesNotContain("poison.b");
        assertThat(cli.run("dead", "list", "--tenant=acme", "--in=outbox").out())
                .contains("poison.a");
        assertThat(cli.run("dead", "list", "--key=order-42").out()).contains("poison.c");
        assertThat(cli.run("dead", "list", "--error=PARSED: poison.b").out()).contains("poison.b");
        assertThat(cli.run("dead", "list", "--older-than=1h")).satisfies(result -> {
            assertThat(result.out()).contains("no dead item fits");
            assertThat(result.code()).isEqualTo(ExitCode.OK);
        });
        JsonNode first = cli.run("dead", "list", "--limit=2", "--json").json().get(0);
        JsonNode second = cli.run(
                        "dead",
                        "list",
                        "--limit=2",
                        "--json",
                        "--after",
                        first.get("next").asText())
                .json()
                .get(0);
        assertThat(first.get("items")).hasSize(2);
        assertThat(second.get("items")).hasSize(1);
        assertThat(second.get("next").isNull()).isTrue();
        assertThat(cli.run("dead", "list", "--after=nowhere")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("\"nowhere\"");
        });
    }

    @Test
    void anItemIsShownWithItsPayloadOnlyOnRequest() {
        database.enqueue(message("poison.a").header("traceparent", "00-1").correlationId("c-7"));
        database.poll();
        String ref = refOf(dead(), "poison.a");

        assertThat(cli.run("dead", "show", ref).out())
                .contains(ref, "cannot be parsed: poison.a", "header traceparent", "00-1", "c-7")
                .doesNotContain("4111");
        assertThat(cli.run("dead", "show", ref, "--json").out()).doesNotContain("4111");
        assertThat(cli.run("dead", "show", ref, "--payload").out()).contains("{\"card\":\"4111\"}");
    }

    @Test
    void anItemThatThereIsNotIsNotFound() {
        String ref = "outbox/" + UUID.randomUUID();

        assertThat(cli.run("dead", "show", ref)).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.err()).contains("there is no item " + ref);
        });
        assertThat(cli.run("dead", "requeue", ref, "--because=x")).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.NOT_FOUND);
            assertThat(result.out()).contains("requeued: 0 items", "skipped " + ref);
        });
        assertThat(cli.run("find", "--id", UUID.randomUUID().toString()).code()).isEqualTo(ExitCode.NOT_FOUND);
    }

    @Test
    void namedItemsAreRequeuedAtOnceAndDeliveredUnderTheirOwnIds() {
        threeDeadAndABlockedKey();
        String ref = refOf(dead(), "poison.c");

        TestCli.Result result = cli.run("dead", "requeue", ref, "--because=parser fixed");

        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        assertThat(result.out()).contains("requeued: 1 item");
        assertThat(dead()).hasSize(2);
        assertThat(cli.run("find", "--id", ref.substring(ref.indexOf('/') + 1)).out())
                .contains(ref, "ready");
    }

    @Test
    void manyItemsNeedAYesWithoutATerminalAndTheDryRunIsPrintedInstead() {
        threeDeadAndABlockedKey();

        TestCli.Result refused = cli.run("dead", "discard", "--error=parsed", "--because=garbage");

        assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
        assertThat(refused.out()).contains("would be discarded: 3 items", "poison.a");
        assertThat(refused.err()).contains("nothing was done", "--yes");
        assertThat(dead()).hasSize(3);

        TestCli.Result done = cli.run("dead", "discard", "--error=parsed", "--because=garbage", "--yes");

        assertThat(done.code()).as(done.err()).isEqualTo(ExitCode.OK);
        assertThat(done.out()).contains("discarded: 3 items");
        assertThat(dead()).isEmpty();
    }

    @Test
    void severalNamedItemsAreManyToo() {
        threeDeadAndABlockedKey();
        List<JsonNode> dead = dead();
        String[] two = {"dead", "discard", refOf(dead, "poison.a"), refOf(dead, "poison.b"), "--because=garbage"};

        TestCli.Result refused = cli.run(two);

        assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
        assertThat(refused.out()).contains("would be discarded: 2 items");
        assertThat(refused.err()).contains("nothing was done", "--yes");
        assertThat(dead()).hasSize(3);

        Answering yes = new Answering("y");
        assertThat(cli.run(yes, two).code()).isEqualTo(ExitCode.OK);
        assertThat(yes.questions).containsExactly("Discard 2 items? [y/N] ");
        assertThat(dead()).hasSize(1);
    }

    @Test
    void whatAnInboxRemembersCanBeSaid() throws Exception {
        database.execute("""
                INSERT INTO inbox (work_item_id, consumer, source, message_id, topic, payload, status, processed_on,
                    created_on, first_seen_on)
                SELECT gen_random_uuid(), 'billing', 'shop', 'm-' || s, 'orders', 'x', s,
                    statement_timestamp() - interval '40 days', statement_timestamp() - interval '40 days',
                    statement_timestamp() - interval '40 days'
                FROM (VALUES (2), (3)) AS statuses (s)
                """);

        assertThat(cli.run("dead", "requeue", "--all", "--because=x", "--dry-run")
                        .out())
                .contains("would be requeued: 0 items");
        assertThat(cli.run("dead", "requeue", "--all", "--because=x", "--dry-run", "--inbox-retention=41d")
                        .out())
                .contains("would be requeued: 1 item");
        assertThat(cli.run("purge", "--in=inbox", "--older-than=39d", "--max-redelivery=40d", "--dry-run"))
                .satisfies(result -> {
                    assertThat(result.code()).isEqualTo(ExitCode.USAGE);
                    assertThat(result.err()).contains("PT960H", "set --max-redelivery");
                });
        assertThat(cli.run("purge", "--in=inbox", "--older-than=1h", "--max-redelivery=1h", "--dry-run")
                        .out())
                .contains("would be removed: 1 item");
    }

    @Test
    void whatIsPrintedCannotSteerTheTerminal() throws Exception {
        database.enqueue(dev.outbox.Message.to("poison.\u009b2J").payload("one\ntwo\u001b[2J\u202ethree"));
        database.poll();
        String ref = dead().get(0).get("ref").asText();

        assertThat(cli.run("dead", "show", ref, "--payload").out())
                .contains("one\ntwo [2J three")
                .doesNotContain("\u001b", "\u009b", "\u202e");
        assertThat(cli.run(new Answering("y"), "dead", "show", ref, "--payload", "--json")
                        .json()
                        .get(0)
                        .get("payload")
                        .asText())
                .isEqualTo("one\ntwo\u001b[2J\u202ethree");
        assertThat(cli.run(new Answering("y"), "dead", "list", "--json").out()).matches("\\p{ASCII}*");
    }

    @Test
    void aQuestionOnATerminalIsAnsweredWithYesOrNothingHappens() {
        threeDeadAndABlockedKey();
        String[] all = {"dead", "requeue", "--all", "--because=x", "--rate=10", "--delay=1h"};

        assertThat(cli.run(new Answering("n"), all)).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("nothing was done");
        });
        assertThat(dead()).hasSize(3);
        Answering yes = new Answering("y");
        assertThat(cli.run(yes, all).code()).isEqualTo(ExitCode.OK);
        assertThat(yes.questions).containsExactly("Requeue 3 items? [y/N] ");
        assertThat(dead()).isEmpty();
    }

    @Test
    void aDryRunChangesNothing() {
        threeDeadAndABlockedKey();

        assertThat(cli.run("dead", "requeue", "--all", "--because=x", "--dry-run")
                        .out())
                .contains("would be requeued: 3 items");
        assertThat(cli.run("dead", "discard", refOf(dead(), "poison.a"), "--because=x", "--dry-run")
                        .out())
                .contains("would be discarded: 1 item");
        assertThat(dead()).hasSize(3);
    }

    @Test
    void itemsAreFoundByWhatTheyHaveInCommon() {
        threeDeadAndABlockedKey();

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
        threeDeadAndABlockedKey();

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
        assertThat(dead()).hasSize(3);
    }

    @Test
    void theDoctorSaysWhatNeedsAPersonAndOnRequestWhatDoesNot() {
        TestCli.Result healthy = cli.run("doctor", "--all");

        assertThat(healthy.code()).as(healthy.out()).isEqualTo(ExitCode.OK);
        assertThat(healthy.out()).contains("OK ", "0 need a person").doesNotContain("WARN");

        threeDeadAndABlockedKey();
        TestCli.Result sick = cli.run("doctor");

        assertThat(sick.code()).isEqualTo(ExitCode.FAILED);
        assertThat(sick.out()).contains("WARN", "order-42", "advice: ").doesNotContain("OK ");
        assertThat(cli.run("doctor", "--json").json())
                .extracting(found -> found.get("severity").asText())
                .contains("WARN")
                .doesNotContain("OK");
    }

    @Test
    void withoutTheAuditTableActionsSayHowToGetIt() throws Exception {
        threeDeadAndABlockedKey();
        database.execute("DROP TABLE outbox_audit");

        TestCli.Result result = cli.run("dead", "requeue", "--all", "--because=x", "--yes");

        assertThat(result.code()).isEqualTo(ExitCode.FAILED);
        assertThat(result.err()).contains("outbox_audit", "create it with outbox migrate apply --admin");
        assertThat(dead()).hasSize(3);
    }

    /** Somebody who always answers the same. */
    private static final class Answering implements Terminal {
        private final String answer;
        private final List<String> questions = new java.util.ArrayList<>();

        Answering(String answer) {
            this.answer = answer;
        }

        @Override
        public boolean isThere() {
            return true;
        }

        @Override
        public String answer(String question) {
            questions.add(question);
            return answer;
        }

        @Override
        public char[] secret(String question) {
            return answer.toCharArray();
        }
    }
}
