package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One call takes the locks of its keys in an order that does not depend on the order of its messages. */
class InboxLockOrderIT {
    @RegisterExtension
    static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final Background background = new Background(DATABASE);
    private final String table = DATABASE.newInboxTable();
    private final Inbox inbox = PostgresInbox.builder(DATABASE.pool())
            .table(table)
            .consumer("billing")
            .build();

    @AfterEach
    void end() {
        background.close();
    }

    /** One of the three keys is between the others in whatever order they are locked. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "m", "z"})
    void callsWithTheSameKeysInOppositeOrdersDoNotDeadlock(String held) throws Exception {
        Future<?> forwards;
        Future<?> backwards;
        try (Connection first = DATABASE.begin()) {
            enqueue(first, held);
            forwards = background.run(() -> commit("a", "m", "z"));
            background.awaitWaiting("advisory", 1);
            backwards = background.run(() -> commit("z", "m", "a"));
            background.awaitWaiting("advisory", 2);
            first.commit();
        }

        Background.result(forwards);
        Background.result(backwards);
        assertThat(DATABASE.count(table, "true")).isEqualTo(7);
    }

    private Object commit(String... keys) throws SQLException {
        try (Connection tx = DATABASE.begin()) {
            enqueue(tx, keys);
            tx.commit();
            return keys;
        }
    }

    private void enqueue(Connection tx, String... keys) {
        List<Incoming> messages = Stream.of(keys)
                .map(key -> Incoming.from("shop", key + "-" + System.nanoTime())
                        .topic("orders")
                        .key(key)
                        .payload("p"))
                .toList();
        inbox.enqueueAll(tx, messages);
    }
}
