package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.event.OutboxEvent;
import dev.outbox.postgres.WorkerMain.Mode;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that cannot be delivered, rows that cannot be read, and what is said about them. */
@SuppressWarnings("try") // a poller works in the background of its block
class MessageLifecycleIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    static final OutboxDatabase database = new OutboxDatabase();

    private final Queue<OutboxEvent> events = new ConcurrentLinkedQueue<>();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private String table;
    private PostgresOutbox outbox;

    @BeforeEach
    void createTable() {
        table = database.newTable();
        outbox = PostgresOutbox.builder(database.pool()).table(table).build();
    }

    @Test
    void aMessageThatAlwaysFailsIsDeadAfterItsLastAttempt() {
        database.commit(
                outbox,
                message("poison"),
                message("hopeless"),
                message("k-1").key("k"),
                message("k-2").key("k"),
                message("good"));
        try (Poller poller = quick(outbox)
                .to(item -> {
                    switch (item.messageId()) {
                        case "poison", "k-1" -> throw new IllegalStateException("attempt " + item.attempt());
                        case "hopeless" -> throw new PermanentFailureException("never");
                        default -> take(item);
                    }
                })
                .start()) {
            await().atMost(PATIENCE)
                    .until(() -> database.statuses(table).equals(Map.of(Status.DONE, 2L, Status.DEAD, 3L)));
        }
        assertThat(delivered).containsExactlyInAnyOrder("good", "k-2");
        assertThat(database.query("SELECT message_id || ' ' || attempt_count || ' ' || last_error FROM " + table
                        + " WHERE status = 3 ORDER BY sequence"))
                .containsExactly(
                        "poison 3 java.lang.IllegalStateException: attempt 3",
                        "hopeless 1 dev.outbox.PermanentFailureException: never",
                        "k-1 3 java.lang.IllegalStateException: attempt 3");
    }

    /** No claim would ever look at such rows. */
    @ParameterizedTest
    @ValueSource(strings = {"priority = 42", "message_key = ''", "status = 4", "payload_bytes = '\\\\x00'"})
    void theTableRefusesRowsThatNobodyWouldFind(String damage) {
        database.commit(outbox, message("odd"));

        assertThatThrownBy(() -> database.execute("UPDATE " + table + " SET " + damage))
                .hasMessageContaining("violates check constraint");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "DEAD | headers = 'secret garbage'",
                "DEAD | headers = '{\"secret\": 1}'",
                "DEAD | topic = ''",
                "DEAD | message_key = repeat('secret', 100)",
                "DEAD | message_id = ''",
                "DEAD | content_type = ' '",
                "DEAD | due_on = '-infinity'",
                "DEAD | due_on = '0044-03-15 BC'",
                "DONE | created_on = '-infinity'",
                "DONE | created_on = 'infinity'",
            })
    void anOddRowIsDeadIfItCannotBeReadAndStopsNobody(Status end, String damage) {
        database.commit(
                outbox,
                message("one"),
                message("odd"),
                message("two"),
                message("k-1").key("k"));
        String id = database.query("SELECT work_item_id FROM " + table + " WHERE message_id = 'odd'")
                .get(0);
        database.execute("UPDATE " + table + " SET " + damage + " WHERE work_item_id = '" + id + "'");

        try (Poller poller = quick(outbox).to(this::take).start()) {
            await().atMost(PATIENCE).until(() -> database.count(table, "status < 2") == 0);
        }

        assertThat(delivered).contains("one", "two", "k-1");
        assertThat(events).noneMatch(OutboxEvent.PollFailed.class::isInstance);
        assertThat(database.query("SELECT status FROM " + table + " WHERE work_item_id = '" + id + "'"))
                .containsExactly("" + end.code());
        assertThat(database.query("SELECT last_error FROM " + table + " WHERE status = 3"))
                .allMatch(error -> error.startsWith("row cannot be read: ") && !error.contains("secret"));
    }

    @Test
    void aClaimThatFoundOnlyUnreadableRowsSaysThatThereMayBeMore() {
        database.commit(outbox, message("odd"), message("good"));
        database.execute("UPDATE " + table + " SET headers = 'garbage' WHERE message_id = 'odd'");
        Source source = outbox.source();
        ClaimRequest one = new ClaimRequest(1, Duration.ofMinutes(1), 10, Set.of(), "one by one");

        Claim first = source.claim(one);
        assertThat(first.items()).isEmpty();
        assertThat(first.dead()).hasSize(1);
        assertThat(first.more()).isTrue();
        assertThat(source.claim(one).items()).extracting(WorkItem::messageId).containsExactly("good");
    }

    @Test
    void anUnreadableRowBlocksItsKeyIfTheClaimSaysSo() {
        database.commit(
                outbox,
                message("odd").key("k"),
                message("behind").key("k"),
                message("other").key("o"));
        database.execute("UPDATE " + table + " SET headers = 'garbage' WHERE message_id = 'odd'");
        Source source = outbox.source();
        ClaimRequest blocking = new ClaimRequest(10, Duration.ofMinutes(1), 10, Set.of(), "me").onDead(OnDead.BLOCK);

        assertThat(source.claim(blocking).items())
                .extracting(WorkItem::messageId)
                .containsExactly("other");
        assertThat(source.claim(blocking).items()).isEmpty();
        assertThat(database.count(table, "message_id = 'behind' AND status = 0 AND attempt_count = 0"))
                .isOne();
    }

    /** A later version, or a stranger, may write what this one does not know: it is left alone. */
    @Test
    void statusesThatNobodyKnowsAreLeftAlone() {
        database.execute("ALTER TABLE " + table + " DROP CONSTRAINT " + table + "_status");
        database.commit(
                outbox,
                message("free-7"),
                message("free-minus").key("k"),
                message("k-7").key("k"),
                message("k-1").key("k"),
                message("one"));
        database.execute("UPDATE " + table + " SET status = 7 WHERE message_id LIKE '%-7'");
        database.execute("UPDATE " + table + " SET status = -1 WHERE message_id LIKE '%-minus'");

        try (Poller poller = quick(outbox).to(this::take).start()) {
            await().atMost(PATIENCE).until(() -> delivered.contains("one") && delivered.contains("k-1"));
        }

        assertThat(events).noneMatch(OutboxEvent.PollFailed.class::isInstance);
        assertThat(database.query("SELECT message_id || status FROM " + table + " WHERE status NOT IN (0, 2)"))
                .containsExactlyInAnyOrder("free-77", "k-77", "free-minus-1");
    }

    /** Nobody leases without an end; whoever does must not keep a row, or its key, for ever. */
    @Test
    void aLeaseWithoutAnEndHasExpired() {
        database.commit(
                outbox, message("one"), message("k-1").key("k"), message("k-2").key("k"));
        database.execute("UPDATE " + table + " SET status = 1 WHERE message_id IN ('one', 'k-1')");
        database.commit(outbox, message("last chance"));
        database.execute("UPDATE " + table + " SET status = 1, attempt_count = 3 WHERE message_id = 'last chance'");

        try (Poller poller = quick(outbox).to(this::take).start()) {
            await().atMost(PATIENCE)
                    .until(() -> database.statuses(table).equals(Map.of(Status.DONE, 3L, Status.DEAD, 1L)));
        }
        assertThat(database.query("SELECT last_error FROM " + table + " WHERE status = 3"))
                .containsExactly("lease expired on attempt 3 at an unknown poller");
    }

    @Test
    void payloadsAndHeadersAreNeverLoggedNorKept() {
        String secret = "secret-payload";
        database.commit(outbox, message("free").payload(secret).header("h", secret));
        database.commit(
                outbox,
                message("k-1").key("k").payload(secret),
                message("k-2").key("k").payload(secret));
        database.commit(outbox, message("odd").payload(secret));
        database.execute("UPDATE " + table + " SET headers = '{" + secret + "' WHERE message_id = 'odd'");

        try (WorkerProcess worker = WorkerProcess.start(
                database, table, new WorkerMain.Settings(Mode.FAIL, Duration.ofSeconds(10), 10, 1, 3))) {
            worker.await("dead", 4);
            worker.tell("close");
            worker.awaitEnd();
            assertThat(worker.log()).contains("WARN", "DEBUG").doesNotContain(secret);
        }
        assertThat(database.query("SELECT last_error FROM " + table)).noneMatch(error -> error.contains(secret));
    }

    /** The server quotes a row it refuses. */
    @Test
    void aSettleThatIsRefusedLogsNoPayload() {
        String secret = "secret-payload";
        database.commit(outbox, message("refused").payload(secret));
        database.execute("ALTER TABLE " + table + " ADD CONSTRAINT never CHECK (status <> 3)");

        try (WorkerProcess worker = WorkerProcess.start(
                database, table, new WorkerMain.Settings(Mode.FAIL, Duration.ofSeconds(10), 10, 1, 1))) {
            worker.await("failed", 2);
            assertThat(worker.log()).contains("WARN", "never").doesNotContain(secret);
        }
    }

    private PollerBuilder quick(PostgresOutbox outbox) {
        return outbox.poller()
                .idle(Duration.ofMillis(10), Duration.ofMillis(50))
                .lease(Duration.ofSeconds(20))
                .retry(new RetryPolicy(Duration.ofMillis(1), Duration.ofMillis(5), 3))
                .listener(events::add);
    }

    private void take(WorkItem item) {
        delivered.add(item.messageId());
    }

    private static Message message(String id) {
        return Message.to("lifecycle").id(id).payload("x");
    }
}
