package dev.outbox.postgres;

import dev.outbox.Ordering;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** Two transactions that are open at once and store messages with keys, so that one may have to wait for the other. */
final class KeyTransactions implements AutoCloseable {
    final Connection first;
    final Connection second;
    final Background background;
    private final OutboxDatabase database;

    KeyTransactions(OutboxDatabase database) {
        this.database = database;
        this.background = new Background(database);
        this.first = database.begin();
        this.second = database.begin();
    }

    Outbox outbox(String table, Ordering ordering) {
        return PostgresOutbox.builder(database.pool())
                .table(table)
                .ordering(ordering)
                .build();
    }

    /** Does this and commits, in the background; returns once it waits for a lock that the other transaction holds. */
    Future<?> waiting(Connection tx, Runnable enqueue) {
        Future<?> waiting = background.run(() -> {
            enqueue.run();
            tx.commit();
            return null;
        });
        awaitWaiting();
        return waiting;
    }

    void awaitWaiting() {
        background.awaitWaiting("advisory", 1);
    }

    List<String> payloadsBySequence(String table) {
        return database.query("SELECT payload FROM " + table + " WHERE message_key IS NOT NULL ORDER BY sequence");
    }

    static String[] keys(String name, int count) {
        return IntStream.range(0, count).mapToObj(i -> name + "-" + i).toArray(String[]::new);
    }

    @Override
    public void close() throws SQLException {
        first.close();
        second.close();
        background.close();
    }
}
