package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Trap 17: an id is stored once, and meeting it again is an answer, not an error. */
class EnqueuedIdsIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();
    private final Background background = new Background(DATABASE);
    private final Connection tx = DATABASE.begin();

    @AfterEach
    void end() throws SQLException {
        tx.close();
        background.close();
    }

    private static Message message() {
        return Message.to("orders").key("k").payload("p");
    }

    @Test
    void givenIdsAreTimeOrderedAndIncreasing() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            ids.addAll(outbox.enqueue(tx, message()).stored());
            ids.addAll(outbox.enqueueAll(tx, List.of(message(), message())).stored());
        }

        assertThat(ids).hasSize(150).doesNotHaveDuplicates().isSorted();
        assertThat(ids)
                .allSatisfy(id -> assertThat(UUID.fromString(id).version()).isEqualTo(7));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "018f3b2e-7c1a-7def-8abc-0123456789ab",
                "018F3B2E-7C1A-7DEF-8ABC-0123456789AB",
                "order 17 ☂",
                "12345678-not-a-uuid-but-as-long-as-it"
            })
    void anIdIsStoredOnceWhateverItLooksLike(String id) throws SQLException {
        Message message = message().id(id);

        assertThat(outbox.enqueue(tx, message)).isEqualTo(new Enqueued(List.of(id), List.of()));
        assertThat(outbox.enqueue(tx, message)).isEqualTo(new Enqueued(List.of(), List.of(id)));
        tx.commit();
        assertThat(outbox.enqueue(tx, message)).isEqualTo(new Enqueued(List.of(), List.of(id)));
        assertThat(outbox.enqueueAll(tx, List.of(message, message)))
                .isEqualTo(new Enqueued(List.of(), List.of(id, id)));
        tx.commit();

        assertThat(DATABASE.query("SELECT message_id FROM " + table)).containsExactly(id);
    }

    @Test
    void idsThatDifferInCaseOnlyAreDifferent() {
        String id = "018f3b2e-7c1a-7def-8abc-0123456789ab";

        assertThat(outbox.enqueueAll(tx, List.of(message().id(id), message().id(id.toUpperCase(Locale.ROOT))))
                        .stored())
                .containsExactly(id, id.toUpperCase(Locale.ROOT));
    }

    @Test
    void oneCallMayHoldNewIdsOldIdsAndRepetitions() throws SQLException {
        outbox.enqueue(tx, message().id("old"));
        tx.commit();

        Enqueued enqueued = outbox.enqueueAll(
                tx,
                List.of(
                        message().id("b").payload("first b"),
                        message().id("old").payload("not stored"),
                        message().id("a"),
                        message().id("b").payload("second b")));
        tx.commit();

        assertThat(enqueued).isEqualTo(new Enqueued(List.of("b", "a"), List.of("old", "b")));
        assertThat(DATABASE.query("SELECT message_id || ': ' || payload FROM " + table + " ORDER BY sequence"))
                .containsExactly("old: p", "b: first b", "a: p");
    }

    @Test
    void aTakenBackIdCanBeStoredAgain() throws SQLException {
        outbox.enqueue(tx, message().id("a"));
        tx.rollback();

        assertThat(outbox.enqueue(tx, message().id("a")).stored()).containsExactly("a");
    }

    @ParameterizedTest
    @EnumSource
    void aRepetitionDoesNotAbortTheTransaction(EnqueueWay way) throws SQLException {
        DATABASE.execute("CREATE TABLE orders_of_" + table + " (id text)");
        outbox.enqueue(tx, message().id("a"));
        tx.commit();

        assertThat(way.enqueue(outbox, tx, message().id("a")).alreadyThere()).containsExactly("a");
        try (Statement insert = tx.createStatement()) {
            insert.execute("INSERT INTO orders_of_" + table + " VALUES ('order 1')");
        }
        tx.commit();

        assertThat(DATABASE.query("SELECT id FROM orders_of_" + table)).containsExactly("order 1");
    }

    @ParameterizedTest
    @EnumSource
    void aConcurrentRepetitionWaitsAndIsAlreadyThere(EnqueueWay way) throws Exception {
        Future<Enqueued> second = repetitionThatWaits(way);

        tx.commit();

        assertThat(Background.result(second).alreadyThere()).containsExactly("a");
        assertThat(DATABASE.count(table, "message_id = 'a'")).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void aConcurrentRepetitionIsStoredIfTheFirstRollsBack(EnqueueWay way) throws Exception {
        Future<Enqueued> second = repetitionThatWaits(way);

        tx.rollback();

        assertThat(Background.result(second).stored()).contains("a");
        assertThat(DATABASE.count(table, "message_id = 'a'")).isOne();
    }

    /** Stores an id in the open transaction, and in the background in another one, which has to wait for the first. */
    private Future<Enqueued> repetitionThatWaits(EnqueueWay way) {
        Outbox relaxed = PostgresOutbox.builder(DATABASE.pool())
                .table(table)
                .ordering(Ordering.RELAXED)
                .build();
        relaxed.enqueue(tx, message().id("a"));
        Future<Enqueued> second =
                background.run(() -> inTransaction(way, relaxed, message().id("a")));
        background.awaitWaiting("transactionid", 1);
        return second;
    }

    private static Enqueued inTransaction(EnqueueWay way, Outbox outbox, Message message) throws SQLException {
        try (Connection other = DATABASE.pool().getConnection()) {
            other.setAutoCommit(false);
            Enqueued enqueued = way.enqueue(outbox, other, message);
            other.commit();
            return enqueued;
        }
    }
}
