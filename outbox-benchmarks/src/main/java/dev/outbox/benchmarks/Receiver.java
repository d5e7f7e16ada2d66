package dev.outbox.benchmarks;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresInbox;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * Receives messages into an inbox, and every tenth of them twice, each with an order as its effect: with ours, or with the
 * hand-written INSERT … ON CONFLICT on the same table.
 */
record Receiver(String name, String settings, Way way) implements Writer {
    private static final String BY_HAND = """
            INSERT INTO inbox AS t (work_item_id, consumer, source, message_id, hash, status, processed_on)
            VALUES (?, 'bench', 'shop', ?, ?, 2, statement_timestamp())
            ON CONFLICT (consumer, source, message_id) DO UPDATE SET receipt_count = t.receipt_count + 1,
                last_seen_on = statement_timestamp()
            RETURNING receipt_count, hash
            """;

    private static final AtomicLong LAST_ID = new AtomicLong(System.currentTimeMillis() << 20);

    static final Receiver OURS = new Receiver("ours-inbox", "receive(...)", pool -> {
        Inbox inbox = PostgresInbox.builder(pool).consumer("bench").build();
        return (tx, id, payload) ->
                inbox.receive(tx, Incoming.from("shop", id).payload(payload)).isFirst();
    });

    static final Receiver LIMIT = new Receiver("limit-inbox", "INSERT ... ON CONFLICT", pool -> Receiver::byHand);

    /** How a pool is used. */
    @FunctionalInterface
    interface Way {
        Receive with(DataSource pool);
    }

    @FunctionalInterface
    interface Receive {
        /** Whether the message arrived for the first time. */
        boolean in(Connection tx, String id, String payload) throws Exception;
    }

    @Override
    public void install(Database database) {
        OutboxMigrations.installInbox(database.direct());
    }

    @Override
    public long effective(long transactions) {
        return transactions - transactions / 10;
    }

    @Override
    public Session open(DataSource pool) {
        Receive receive = way.with(pool);
        return (number, messages) -> {
            int id = number % 10 == 9 ? number - 1 : number;
            try (Connection tx = pool.getConnection()) {
                tx.setAutoCommit(false);
                if (receive.in(tx, "message-" + id, Payload.of(id))) {
                    Orders.insert(tx, id);
                }
                tx.commit();
            }
        };
    }

    private static boolean byHand(Connection tx, String id, String payload) throws Exception {
        byte[] hash = MessageDigest.getInstance("SHA-256").digest(payload.getBytes(StandardCharsets.UTF_8));
        try (PreparedStatement insert = tx.prepareStatement(BY_HAND)) {
            insert.setObject(1, new UUID(LAST_ID.incrementAndGet(), Long.MIN_VALUE));
            insert.setString(2, id);
            insert.setBytes(3, hash);
            try (ResultSet row = insert.executeQuery()) {
                row.next();
                if (!MessageDigest.isEqual(hash, row.getBytes(2))) {
                    throw new WrongResultException("message " + id + " came with another hash");
                }
                return row.getInt(1) == 1;
            }
        }
    }

    @Override
    public long stored(Database database) throws SQLException {
        return database.count("SELECT count(*) FROM inbox");
    }
}
