package dev.outbox.cli;

import static dev.outbox.cli.Database.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Walks {@code docs/how-to/handle-an-incident.md}, command by command as they stand there. */
@Timeout(600)
@SuppressWarnings("try") // the poller works by itself
class IncidentIT {
    private static final Path PAGE = Path.of("../docs/how-to/handle-an-incident.md");
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final PostgresExtension POSTGRES = Database.extension();

    /** A broker that may be down, behind an adapter that may have a bug. */
    private static final class Broker implements Destination {
        private final List<String> delivered = new CopyOnWriteArrayList<>();
        private final AtomicInteger refused = new AtomicInteger();
        private volatile boolean up = true;
        private volatile boolean parserFixed;

        @Override
        public void deliver(WorkItem item) throws IOException {
            if (item.topic().equals("invoices.due") && !parserFixed) {
                throw new PermanentFailureException("cannot be parsed: unknown currency");
            }
            if (!up) {
                refused.incrementAndGet();
                throw new IOException("connection refused");
            }
            delivered.add(item.messageId());
        }
    }

    private final Broker broker = new Broker();
    private final Deque<String> page = commands();

    @Test
    void fromABrokerThatWasDownToEverythingDelivered(EmbeddedDatabase fresh) throws Exception {
        Database database = new Database(fresh);
        TestCli cli = database.cli();
        try (Poller poller = PostgresOutbox.create(database.dataSource())
                .poller()
                .to(broker)
                .onDead(OnDead.BLOCK)
                .lease(Duration.ofMinutes(5))
                .start()) {
            database.enqueue(
                    message("invoices.due").id("i-1"),
                    message("invoices.due").id("i-2"),
                    message("invoices.due").id("i-42").key("order-42"),
                    message("orders.paid").id("p-1").key("order-42"),
                    message("orders.paid").id("p-2").key("order-42"));
            await().atMost(PATIENCE).until(() -> deadIn(cli) == 3);
            broker.up = false;
            database.enqueue(IntStream.range(0, 20)
                    .mapToObj(i -> message("orders.placed").id("o-" + i))
                    .toArray(Message[]::new));
            await().atMost(PATIENCE).until(() -> broker.refused.get() > 5);
            anHourPasses(database);

            assertThat(run(cli, "outbox status").out())
                    .containsPattern("dead 3")
                    .containsPattern("oldest due (59m|1h)")
                    .containsPattern("order-42 +2 +outbox/.*dead, needs requeue or discard: .*cannot be parsed");
            TestCli.Result doctor = run(cli, "outbox doctor");
            assertThat(doctor.code()).isEqualTo(ExitCode.FAILED);
            assertThat(doctor.out()).contains("order-42");

            broker.up = true;
            run(cli, "outbox status --watch", "--times=1");
            await().atMost(PATIENCE).until(() -> broker.delivered.size() == 20);

            assertThat(run(cli, "outbox dead list").out()).contains("cannot be parsed", "blocks its key");
            String blocking = blocking(cli);
            assertThat(run(cli, "outbox dead show " + blocking).out()).contains("cannot be parsed", "order-42");
            broker.parserFixed = true;
            assertThat(run(cli, "outbox dead requeue " + blocking + " --because=\"parser fixed, INC-7\"")
                            .out())
                    .contains("requeued: 1 item");
            await().atMost(PATIENCE).until(() -> broker.delivered.size() == 23);
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(cli.run("find", "--key=order-42").out())
                                    .doesNotContain("ready", "processing", "dead"));
            assertThat(run(cli, "outbox find --key=order-42").out()).containsPattern("(?s)done.*done.*done");

            String rest =
                    "outbox dead requeue --error=\"cannot be parsed\" --because=\"parser fixed, INC-7\" --rate=100 ";
            assertThat(run(cli, rest + "--dry-run").out()).contains("would be requeued: 2 items");
            assertThat(run(cli, rest + "--yes").out()).contains("requeued: 2 items");
            await().atMost(PATIENCE).until(() -> broker.delivered.size() == 25);
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(cli.run("status").out()).contains("ready 0   processing 0   dead 0"));

            assertThat(run(cli, "outbox dead list").out()).contains("nothing is dead");
            assertThat(run(cli, "outbox status").out())
                    .contains("ready 0   processing 0   dead 0")
                    .doesNotContain("BLOCKED KEY");
        }
        assertThat(page).as("commands on the page that nobody ran").isEmpty();
        assertThat(broker.delivered).doesNotHaveDuplicates().hasSize(25);
        assertThat(broker.delivered.subList(20, 23)).containsExactly("i-42", "p-1", "p-2");
    }

    /** Time is what the database says. */
    private static void anHourPasses(Database database) throws Exception {
        database.execute("""
                UPDATE outbox SET created_on = created_on - interval '1 hour', due_on = due_on - interval '1 hour'
                WHERE status IN (0, 1)
                """);
    }

    private static int deadIn(TestCli cli) {
        return cli.run("dead", "list", "--json").json().get(0).get("items").size();
    }

    private static String blocking(TestCli cli) {
        return cli.run("dead", "list", "--key=order-42", "--json")
                .json()
                .get(0)
                .get("items")
                .get(0)
                .get("ref")
                .asText();
    }

    /** The next command of the page, which must be this one. */
    private TestCli.Result run(TestCli cli, String command, String... more) {
        assertThat(command.replaceFirst("outbox/[0-9a-f-]{36}", "outbox/<id>"))
                .as("the next command on the page")
                .isEqualTo(page.poll());
        Matcher words = Pattern.compile("(?:[^\\s\"]|\"[^\"]*\")+").matcher(command);
        List<String> args = new java.util.ArrayList<>(words.results()
                .map(word -> word.group().replace("\"", ""))
                .skip(1)
                .toList());
        args.addAll(List.of(more));
        return cli.run(args.toArray(String[]::new));
    }

    private static Deque<String> commands() {
        try {
            Deque<String> commands = new ArrayDeque<>();
            Pattern.compile("```\\R(.*?)```", Pattern.DOTALL)
                    .matcher(Files.readString(PAGE))
                    .results()
                    .flatMap(block -> block.group(1).lines())
                    .filter(line -> line.startsWith("outbox "))
                    .forEach(commands::add);
            return commands;
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
