package dev.outbox.benchmarks;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Our enqueue.
 *
 * @param keys how many keys there are, each equally likely; 0 means no keys
 */
record OursWriter(String name, int keys) implements Writer {
    static final OursWriter UNKEYED = new OursWriter("ours-keep", 0);

    static OursWriter keyed(int keys) {
        return new OursWriter("ours-ordered", keys);
    }

    @Override
    public String settings() {
        return keys == 0 ? "no keys" : "STRICT, keys " + keys;
    }

    @Override
    public void install(Database database) {
        OutboxTable.install(database);
    }

    @Override
    public Session open(DataSource pool) {
        Outbox outbox = PostgresOutbox.create(pool);
        return (first, messages) -> {
            try (Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                Orders.insert(tx, first);
                enqueue(outbox, tx, first, messages);
                tx.commit();
            }
        };
    }

    private void enqueue(Outbox outbox, Connection tx, int first, int messages) {
        if (messages == 1) {
            outbox.enqueue(tx, message(first));
            return;
        }
        List<Message> all = new ArrayList<>(messages);
        for (int number = first; number < first + messages; number++) {
            all.add(message(number));
        }
        outbox.enqueueAll(tx, all);
    }

    private Message message(int number) {
        return Message.to("bench").key(key()).payload(Payload.of(number));
    }

    private @Nullable String key() {
        return keys == 0 ? null : "key-" + ThreadLocalRandom.current().nextInt(keys);
    }

    @Override
    public long stored(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
