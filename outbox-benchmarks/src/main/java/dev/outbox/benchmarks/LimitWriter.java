package dev.outbox.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * The limit of storing: a hand-written INSERT into our own table with only the columns that are required.
 *
 * @param insert how the messages of one transaction are written
 */
record LimitWriter(String name, String settings, Insert insert) implements Writer {
    private static final String ONE = "INSERT INTO outbox (work_item_id, topic, payload) VALUES (?, ?, ?)";
    private static final String MANY = """
            INSERT INTO outbox (work_item_id, topic, payload)
            SELECT * FROM unnest(?::uuid[], ?::text[], ?::text[])
            """;

    /** Ids that increase with time, so that they cost the primary key index no more than ours do. */
    private static final AtomicLong LAST_ID = new AtomicLong(System.currentTimeMillis() << 20);

    static final LimitWriter INSERT = new LimitWriter("limit-insert", "one INSERT per message", LimitWriter::insert);
    static final LimitWriter UNNEST = new LimitWriter("limit-unnest", "one INSERT of arrays", LimitWriter::unnest);

    @FunctionalInterface
    interface Insert {
        void run(Connection tx, int first, int messages) throws SQLException;
    }

    @Override
    public void install(Database database) {
        OutboxTable.install(database);
    }

    @Override
    public Session open(DataSource pool) {
        return (first, messages) -> {
            try (Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                Orders.insert(tx, first);
                insert.run(tx, first, messages);
                tx.commit();
            }
        };
    }

    private static void insert(Connection tx, int first, int messages) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement(ONE)) {
            for (int number = first; number < first + messages; number++) {
                insert.setObject(1, id());
                insert.setString(2, "bench");
                insert.setString(3, Payload.of(number));
                insert.executeUpdate();
            }
        }
    }

    private static void unnest(Connection tx, int first, int messages) throws SQLException {
        UUID[] ids = new UUID[messages];
        String[] topics = new String[messages];
        String[] payloads = new String[messages];
        for (int i = 0; i < messages; i++) {
            ids[i] = id();
            topics[i] = "bench";
            payloads[i] = Payload.of(first + i);
        }
        try (PreparedStatement insert = tx.prepareStatement(MANY)) {
            insert.setArray(1, tx.createArrayOf("uuid", ids));
            insert.setArray(2, tx.createArrayOf("text", topics));
            insert.setArray(3, tx.createArrayOf("text", payloads));
            insert.executeUpdate();
        }
    }

    private static UUID id() {
        return new UUID(LAST_ID.incrementAndGet(), Long.MIN_VALUE);
    }

    @Override
    public long stored(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
