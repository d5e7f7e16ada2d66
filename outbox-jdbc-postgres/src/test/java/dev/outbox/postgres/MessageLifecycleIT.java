package dev.outbox.postgres;

import static dev.outbox.postgres.QuickPollers.message;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OnDead;
import dev.outbox.Outbox;
import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.postgres.WorkerMain.Mode;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
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
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final QuickPollers quick = new QuickPollers();
    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();

    @Test
    void aMessageThatAlwaysFailsIsDeadAfterItsLastAttempt() {
        DATABASE.commit(
                outbox,
                message("poison"),
                message("hopeless"),
                message("k-1").key("k"),
                message("k-2").key("k"),
                message("good"));
        try (Poller poller = quick.of(outbox)
                .to(item -> {
                    switch (item.messageId()) {
                        case "poison", "k-1" -> throw new IllegalStateException("attempt " + item.attempt());
                        case "hopeless" -> throw new PermanentFailureException("never");
                        default -> quick.take(item);
                    }
                })
                .start()) {
            await().atMost(PATIENCE)
                    .until(() -> DATABASE.statuses(table).equals(Map.of(Status.DONE, 2L, Status.DEAD, 3L)));
        }
        assertThat(quick.delivered).containsExactlyInAnyOrder("good", "k-2");
        assertThat(DATABASE.query("SELECT message_id || ' ' || attempt_count || ' ' || last_error FROM " + table
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
        DATABASE.commit(outbox, message("odd"));

        assertThatThrownBy(() -> DATABASE.execute("UPDATE " + table + " SET " + damage))
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
        DATABASE.commit(
                outbox,
                message("one"),
                message("odd"),
                message("two"),
                message("k-1").key("k"));
        String id = DATABASE.query("SELECT work_item_id FROM " + table + " WHERE message_id = 'odd'")
                .get(0);
        DATABASE.execute("UPDATE " + table + " SET " + damage + " WHERE work_item_id = '" + id + "'");

        try (Poller poller = quick.of(outbox).to(quick::take).start()) {
            await().atMost(PATIENCE).until(() -> DATABASE.count(table, "status < 2") == 0);
        }

        assertThat(quick.delivered).contains("one", "two", "k-1");
        assertThat(quick.events).noneMatch(OutboxEvent.PollFailed.class::isInstance);
        assertThat(DATABASE.query("SELECT status FROM " + table + " WHERE work_item_id = '" + id + "'"))
                .containsExactly("" + end.code());
        assertThat(DATABASE.query("SELECT last_error FROM " + table + " WHERE status = 3"))
                .allMatch(error -> error.startsWith("row cannot be read: ") && !error.contains("secret"));
    }

    @Test
    void aClaimThatFoundOnlyUnreadableRowsSaysThatThereMayBeMore() {
        DATABASE.commit(outbox, message("odd"), message("good"));
        DATABASE.execute("UPDATE " + table + " SET headers = 'garbage' WHERE message_id = 'odd'");
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
        DATABASE.commit(
                outbox,
                message("odd").key("k"),
                message("behind").key("k"),
                message("other").key("o"));
        DATABASE.execute("UPDATE " + table + " SET headers = 'garbage' WHERE message_id = 'odd'");
        Source source = outbox.source();
        ClaimRequest blocking = new ClaimRequest(10, Duration.ofMinutes(1), 10, Set.of(), "me").onDead(OnDead.BLOCK);

        assertThat(source.claim(blocking).items())
                .extracting(WorkItem::messageId)
                .containsExactly("other");
        assertThat(source.claim(blocking).items()).isEmpty();
        assertThat(DATABASE.count(table, "message_id = 'behind' AND status = 0 AND attempt_count = 0"))
                .isOne();
    }

    /** A later version, or a stranger, may write what this one does not know: it is left alone. */
    @Test
    void statusesThatNobodyKnowsAreLeftAlone() {
        DATABASE.execute("ALTER TABLE " + table + " DROP CONSTRAINT " + table + "_status");
        DATABASE.commit(
                outbox,
                message("free-7"),
                message("free-minus").key("k"),
                message("k-7").key("k"),
                message("k-1").key("k"),
                message("one"));
        DATABASE.execute("UPDATE " + table + " SET status = 7 WHERE message_id LIKE '%-7'");
        DATABASE.execute("UPDATE " + table + " SET status = -1 WHERE message_id LIKE '%-minus'");

        try (Poller poller = quick.of(outbox).to(quick::take).start()) {
            await().atMost(PATIENCE).until(() -> quick.delivered.contains("one") && quick.delivered.contains("k-1"));
        }

        assertThat(quick.events).noneMatch(OutboxEvent.PollFailed.class::isInstance);
        assertThat(DATABASE.query("SELECT message_id || status FROM " + table + " WHERE status NOT IN (0, 2)"))
                .containsExactlyInAnyOrder("free-77", "k-77", "free-minus-1");
    }

    /** Nobody leases without an end; whoever does must not keep a row, or its key, for ever. */
    @Test
    void aLeaseWithoutAnEndHasExpired() {
        DATABASE.commit(
                outbox, message("one"), message("k-1").key("k"), message("k-2").key("k"));
        DATABASE.execute("UPDATE " + table + " SET status = 1 WHERE message_id IN ('one', 'k-1')");
        DATABASE.commit(outbox, message("last chance"));
        DATABASE.execute("UPDATE " + table + " SET status = 1, attempt_count = 3 WHERE message_id = 'last chance'");

        try (Poller poller = quick.of(outbox).to(quick::take).start()) {
            await().atMost(PATIENCE)
                    .until(() -> DATABASE.statuses(table).equals(Map.of(Status.DONE, 3L, Status.DEAD, 1L)));
        }
        assertThat(DATABASE.query("SELECT last_error FROM " + table + " WHERE status = 3"))
                .containsExactly("lease expired on attempt 3 at an unknown poller");
    }

    @Test
    void payloadsAndHeadersAreNeverLoggedNorKept() {
        String secret = "secret-payload";
        DATABASE.commit(outbox, message("free").payload(secret).header("h", secret));
        DATABASE.commit(
                outbox,
                message("k-1").key("k").payload(secret),
                message("k-2").key("k").payload(secret));
        DATABASE.commit(outbox, message("odd").payload(secret));
        DATABASE.execute("UPDATE " + table + " SET headers = '{" + secret + "' WHERE message_id = 'odd'");

        try (WorkerProcess worker = WorkerProcess.start(
                DATABASE, table, new WorkerMain.Settings(Mode.FAIL, Duration.ofSeconds(10), 10, 1, 3))) {
            worker.await("dead", 4);
            worker.tell("close");
            worker.awaitEnd();
            assertThat(worker.log()).contains("WARN", "DEBUG").doesNotContain(secret);
        }
        assertThat(DATABASE.query("SELECT last_error FROM " + table)).noneMatch(error -> error.contains(secret));
    }

    /** The server quotes a row it refuses. */
    @Test
    void aSettleThatIsRefusedLogsNoPayload() {
        String secret = "secret-payload";
        DATABASE.commit(outbox, message("refused").payload(secret));
        DATABASE.execute("ALTER TABLE " + table + " ADD CONSTRAINT never CHECK (status <> 3)");

        try (WorkerProcess worker = WorkerProcess.start(
                DATABASE, table, new WorkerMain.Settings(Mode.FAIL, Duration.ofSeconds(10), 10, 1, 1))) {
            worker.await("failed", 2);
            assertThat(worker.log()).contains("WARN", "never").doesNotContain(secret);
        }
    }
}
