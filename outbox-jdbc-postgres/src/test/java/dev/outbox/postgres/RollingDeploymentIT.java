package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.UnknownTypeException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An old and a new version of an application poll the same table. */
class RollingDeploymentIT {
    private static final int MESSAGES = 50;

    private final Queue<String> byOld = new ConcurrentLinkedQueue<>();
    private final Queue<String> byNew = new ConcurrentLinkedQueue<>();
    private OutboxDatabase database;
    private String table;
    private Outbox outbox;

    @BeforeEach
    void createDatabase() {
        database = new OutboxDatabase();
        table = database.newTable();
        outbox = PostgresOutbox.builder(database.pool()).table(table).build();
    }

    @AfterEach
    void dropDatabase() {
        database.close();
    }

    @Test
    void whatOnlyTheNewVersionKnowsIsDeliveredByIt() {
        database.commit(outbox, messages("placed", null));
        database.commit(outbox, messages("moved", null)); // a topic that is new
        database.commit(outbox, messages("placed", "v2")); // a type that is new
        Destination oldVersion = Destination.byTopic().route("placed", item -> {
            if (item.headers().containsKey("version")) {
                throw new UnknownTypeException("unknown type");
            }
            byOld.add(name(item));
        });
        Destination newVersion = Destination.byTopic()
                .route("placed", item -> byNew.add(name(item)))
                .route("moved", item -> byNew.add(name(item)));

        try (Poller old = outbox.poller().to(oldVersion).start()) {
            old.wakeUp();
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> database.count(table, "status = 2") == MESSAGES
                            && database.count(table, "last_error IS NOT NULL AND status = 0") == MESSAGES);
            assertThat(database.count(table, "topic = 'moved' AND (status <> 0 OR attempt_count > 0)"))
                    .isZero();
            try (Poller young = outbox.poller().to(newVersion).start()) {
                young.wakeUp();
                await().atMost(Duration.ofMinutes(2))
                        .until(() -> database.statuses(table).equals(Map.of(Status.DONE, 3L * MESSAGES)));
            }
        }

        assertThat(byOld).hasSize(MESSAGES).allMatch(name -> name.startsWith("placed null"));
        assertThat(byNew)
                .hasSize(2 * MESSAGES)
                .allMatch(name -> name.startsWith("moved") || name.startsWith("placed v2"));
        assertThat(database.count(table, "attempt_count <> 1")).isZero();
    }

    private static List<Message> messages(String topic, String version) {
        return IntStream.range(0, MESSAGES)
                .mapToObj(i -> Message.to(topic).payload(String.valueOf(i)))
                .map(message -> version == null ? message : message.header("version", version))
                .toList();
    }

    private static String name(WorkItem item) {
        return item.topic() + " " + item.headers().get("version") + " " + item.payload();
    }
}
