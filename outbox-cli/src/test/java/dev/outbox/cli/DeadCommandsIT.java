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

/** The commands that show dead letters and act on them. */
class DeadCommandsIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Database.extension();

    private Database database;
    private TestCli cli;

    @BeforeEach
    void connect(EmbeddedDatabase fresh) {
        database = new Database(fresh);
        cli = database.cli();
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
    void deadItemsAreListedFilteredAndPaged() {
        database.threeDeadAndABlockedKey();

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
            assertThat(result.out()).contains("no dead item matches");
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
        String ref = refOf(cli.dead(), "poison.a");

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
        database.threeDeadAndABlockedKey();
        String ref = refOf(cli.dead(), "poison.c");

        TestCli.Result result = cli.run("dead", "requeue", ref, "--because=parser fixed");

        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        assertThat(result.out()).contains("requeued: 1 item");
        assertThat(cli.dead()).hasSize(2);
        assertThat(cli.run("find", "--id", ref.substring(ref.indexOf('/') + 1)).out())
                .contains(ref, "ready");
    }

    @Test
    void manyItemsNeedAYesWithoutATerminalAndTheDryRunIsPrintedInstead() {
        database.threeDeadAndABlockedKey();

        TestCli.Result refused = cli.run("dead", "discard", "--error=parsed", "--because=garbage");

        assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
        assertThat(refused.out()).contains("would be discarded: 3 items", "poison.a");
        assertThat(refused.err()).contains("nothing was done", "--yes");
        assertThat(cli.dead()).hasSize(3);

        TestCli.Result done = cli.run("dead", "discard", "--error=parsed", "--because=garbage", "--yes");

        assertThat(done.code()).as(done.err()).isEqualTo(ExitCode.OK);
        assertThat(done.out()).contains("discarded: 3 items");
        assertThat(cli.dead()).isEmpty();
    }

    @Test
    void severalNamedItemsAreManyToo() {
        database.threeDeadAndABlockedKey();
        List<JsonNode> dead = cli.dead();
        String[] two = {"dead", "discard", refOf(dead, "poison.a"), refOf(dead, "poison.b"), "--because=garbage"};

        TestCli.Result refused = cli.run(two);

        assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
        assertThat(refused.out()).contains("would be discarded: 2 items");
        assertThat(refused.err()).contains("nothing was done", "--yes");
        assertThat(cli.dead()).hasSize(3);

        Answering yes = new Answering("y");
        assertThat(cli.run(yes, two).code()).isEqualTo(ExitCode.OK);
        assertThat(yes.questions).containsExactly("Discard 2 items? [y/N] ");
        assertThat(cli.dead()).hasSize(1);
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
        String ref = cli.dead().get(0).get("ref").asText();

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
        database.threeDeadAndABlockedKey();
        String[] all = {"dead", "requeue", "--all", "--because=x", "--rate=10", "--delay=1h"};

        assertThat(cli.run(new Answering("n"), all)).satisfies(result -> {
            assertThat(result.code()).isEqualTo(ExitCode.USAGE);
            assertThat(result.err()).contains("nothing was done");
        });
        assertThat(cli.dead()).hasSize(3);
        Answering yes = new Answering("y");
        assertThat(cli.run(yes, all).code()).isEqualTo(ExitCode.OK);
        assertThat(yes.questions).containsExactly("Requeue 3 items? [y/N] ");
        assertThat(cli.dead()).isEmpty();
    }

    @Test
    void aDryRunChangesNothing() {
        database.threeDeadAndABlockedKey();

        assertThat(cli.run("dead", "requeue", "--all", "--because=x", "--dry-run")
                        .out())
                .contains("would be requeued: 3 items");
        assertThat(cli.run("dead", "discard", refOf(cli.dead(), "poison.a"), "--because=x", "--dry-run")
                        .out())
                .contains("would be discarded: 1 item");
        assertThat(cli.dead()).hasSize(3);
    }

    @Test
    void withoutTheAuditTableActionsSayHowToGetIt() throws Exception {
        database.threeDeadAndABlockedKey();
        database.execute("DROP TABLE outbox_audit");

        TestCli.Result result = cli.run("dead", "requeue", "--all", "--because=x", "--yes");

        assertThat(result.code()).isEqualTo(ExitCode.FAILED);
        assertThat(result.err()).contains("outbox_audit", "create it with outbox migrate apply --admin");
        assertThat(cli.dead()).hasSize(3);
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
