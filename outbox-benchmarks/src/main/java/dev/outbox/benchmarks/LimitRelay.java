package dev.outbox.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * The hand-written limit: a loop of two statements, claim and settle, on one connection and our own table. It knows no keys,
 * retries, priorities, renewals or events, so no library with leases is expected to be faster.
 *
 * @param settle how a batch ends
 */
record LimitRelay(String name, String settle) implements Relay {
    static final String CLAIM = """
            UPDATE outbox SET status = 1, owner_token = ?, locked_until = statement_timestamp() + interval '30 s',
                attempt_count = attempt_count + 1
            WHERE work_item_id = ANY (ARRAY(
                SELECT work_item_id FROM outbox
                WHERE status = 0 AND message_key IS NULL AND due_on IS NULL AND priority = 1 AND sequence > ?
                ORDER BY sequence LIMIT ? FOR UPDATE SKIP LOCKED))
            RETURNING work_item_id, sequence, payload
            """;

    static final LimitRelay KEEP = new LimitRelay("limit-keep", """
            UPDATE outbox SET status = 2, owner_token = NULL, processed_on = statement_timestamp()
            WHERE work_item_id = ANY (?) AND owner_token = ?
            """);

    static final LimitRelay DELETE =
            new LimitRelay("limit-delete", "DELETE FROM outbox WHERE work_item_id = ANY (?) AND owner_token = ?");

    @Override
    public String settings() {
        return "hand-written claim and settle in turn, batch size " + BATCH + ", low-water mark, 1 thread";
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        OutboxTable.install(database);
        OutboxTable.fill(database, backlog);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        return Loop.start(name, () -> drain(pool, deliveries))::await;
    }

    private void drain(DataSource pool, Deliveries deliveries) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement claim = connection.prepareStatement(CLAIM);
                PreparedStatement settled = connection.prepareStatement(settle)) {
            long mark = Long.MIN_VALUE;
            while (!deliveries.areComplete()) {
                UUID token = UUID.randomUUID();
                List<UUID> ids = new ArrayList<>(BATCH);
                claim.setObject(1, token);
                claim.setLong(2, mark);
                claim.setInt(3, BATCH);
                try (ResultSet rows = claim.executeQuery()) {
                    while (rows.next()) {
                        ids.add(rows.getObject(1, UUID.class));
                        mark = Math.max(mark, rows.getLong(2));
                        deliveries.arrive(rows.getString(3));
                    }
                }
                if (ids.isEmpty()) {
                    mark = Long.MIN_VALUE; // rows may have been committed below it
                    LockSupport.parkNanos(1_000_000);
                } else {
                    settled.setArray(1, connection.createArrayOf("uuid", ids.toArray()));
                    settled.setObject(2, token);
                    settled.executeUpdate();
                }
            }
        }
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return OutboxTable.unfinished(database);
    }
}
