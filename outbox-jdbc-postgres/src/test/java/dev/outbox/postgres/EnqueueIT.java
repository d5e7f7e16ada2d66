package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Promise 1: a message is stored if and only if the caller's transaction commits, and enqueue leaves it alone. */
class EnqueueIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table = DATABASE.newTable();
    private final Outbox outbox =
            PostgresOutbox.builder(DATABASE.pool()).table(table).build();
    private final Connection tx = DATABASE.begin();

    @AfterEach
    void end() throws SQLException {
        tx.close();
    }

    private static Message message() {
        return Message.to("orders").key("k").payload("p");
    }

    private long stored() {
        return DATABASE.count(table, "true");
    }

    @ParameterizedTest
    @EnumSource
    void aCommittedMessageIsThereAndWasInvisibleBefore(EnqueueWay way) throws SQLException {
        way.enqueue(outbox, tx, message());
        assertThat(stored()).isZero();

        tx.commit();

        assertThat(stored()).isEqualTo(way.count());
    }

    @ParameterizedTest
    @EnumSource
    void aRolledBackMessageIsNotThere(EnqueueWay way) throws SQLException {
        way.enqueue(outbox, tx, message());

        tx.rollback();
        tx.commit();

        assertThat(stored()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void rollingBackToASavepointTakesBackWhatCameAfterIt(EnqueueWay way) throws SQLException {
        way.enqueue(outbox, tx, message());
        Savepoint savepoint = tx.setSavepoint();
        way.enqueue(outbox, tx, message());
        tx.rollback(savepoint);
        tx.commit();

        assertThat(stored()).isEqualTo(way.count());
    }

    @ParameterizedTest
    @EnumSource
    void aReleasedSavepointGoesWithItsTransaction(EnqueueWay way) throws SQLException {
        Savepoint released = tx.setSavepoint();
        way.enqueue(outbox, tx, message());
        tx.releaseSavepoint(released);
        tx.rollback();
        assertThat(stored()).isZero();

        released = tx.setSavepoint();
        way.enqueue(outbox, tx, message());
        tx.releaseSavepoint(released);
        tx.commit();
        assertThat(stored()).isEqualTo(way.count());
    }

    @ParameterizedTest
    @EnumSource
    void enqueueIsOneStatementAndEndsNoTransaction(EnqueueWay way) throws SQLException {
        for (Ordering ordering : Ordering.values()) {
            RecordedConnection recorded = new RecordedConnection(tx);
            Outbox fresh = PostgresOutbox.builder(DATABASE.pool())
                    .table(table)
                    .ordering(ordering)
                    .build();

            way.enqueue(fresh, recorded.connection(), message());

            assertThat(recorded.executed())
                    .singleElement()
                    .asString()
                    .startsWith("INSERT INTO \"public\".\"" + table + "\"");
            assertThat(recorded.ended()).isEmpty();
        }
    }

    @Test
    void tenThousandMessagesAreOneStatementInTheOrderOfTheList() throws SQLException {
        RecordedConnection recorded = new RecordedConnection(tx);
        List<Message> messages = IntStream.range(0, 10_000)
                .mapToObj(i -> Message.to("orders").key("k" + i % 7).payload("p" + i))
                .toList();

        Enqueued enqueued = outbox.enqueueAll(recorded.connection(), messages);
        tx.commit();

        assertThat(recorded.executed()).hasSize(1);
        assertThat(DATABASE.query("SELECT payload FROM " + table + " ORDER BY sequence"))
                .isEqualTo(messages.stream().map(Message::payload).toList());
        assertThat(DATABASE.query("SELECT work_item_id FROM " + table + " ORDER BY sequence"))
                .isEqualTo(enqueued.stored());
    }

    @Test
    void noMessagesAreNoStatement() {
        RecordedConnection recorded = new RecordedConnection(tx);

        assertThat(outbox.enqueueAll(recorded.connection(), List.of())).isEqualTo(new Enqueued(List.of(), List.of()));
        assertThat(recorded.executed()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {Connection.TRANSACTION_REPEATABLE_READ, Connection.TRANSACTION_SERIALIZABLE})
    void aStricterIsolationOfTheCallerIsRespected(int isolation) throws SQLException {
        tx.setTransactionIsolation(isolation);

        outbox.enqueue(tx, message());
        outbox.enqueueAll(tx, List.of(message(), message()));
        tx.commit();

        assertThat(stored()).isEqualTo(3);
        assertThat(tx.getTransactionIsolation()).isEqualTo(isolation);
    }

    @Test
    void aListenerThatThrowsDoesNotHarmTheCaller() throws SQLException {
        Outbox listened = PostgresOutbox.builder(DATABASE.pool())
                .table(table)
                .listener(event -> {
                    throw new IllegalStateException("listener");
                })
                .build();

        assertThat(listened.enqueue(tx, message()).stored()).hasSize(1);
        assertThat(listened.enqueueAll(tx, List.of(message(), message())).stored())
                .hasSize(2);
        tx.commit();

        assertThat(stored()).isEqualTo(3);
    }
}
