package dev.outbox.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * The limit of in-transaction handlers: as many threads, each of which claims a batch and then handles and settles each
 * message in a transaction of its own, on our own table. It knows no keys, retries, renewals or events.
 */
final class LimitHandlers implements Relay {
    private static final String SETTLE = """
            UPDATE outbox SET status = 2, owner_token = NULL, processed_on = statement_timestamp()
            WHERE work_item_id = ? AND owner_token = ?
            """;

    private final OursHandlers same = new OursHandlers();

    @Override
    public String name() {
        return "limit-handler";
    }

    @Override
    public String settings() {
        return "hand-written: claim a batch; for each message insert one row, settle, commit; batch size " + BATCH
                + ", low-water mark, " + OursHandlers.CONCURRENCY + " threads";
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        same.store(database, backlog);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        List<Loop> loops = new ArrayList<>();
        for (int i = 0; i < OursHandlers.CONCURRENCY; i++) {
            loops.add(Loop.start(name(), () -> drain(pool, deliveries)));
        }
        return () -> {
            for (Loop loop : loops) {
                loop.await();
            }
        };
    }

    private static void drain(DataSource pool, Deliveries deliveries) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement claim = connection.prepareStatement(LimitRelay.CLAIM);
                PreparedStatement settle = connection.prepareStatement(SETTLE)) {
            connection.setAutoCommit(false);
            long mark = Long.MIN_VALUE;
            while (!deliveries.areComplete()) {
                UUID token = UUID.randomUUID();
                Map<UUID, String> payloads = new LinkedHashMap<>();
                claim.setObject(1, token);
                claim.setLong(2, mark);
                claim.setInt(3, BATCH);
                try (ResultSet rows = claim.executeQuery()) {
                    while (rows.next()) {
                        payloads.put(rows.getObject(1, UUID.class), rows.getString(3));
                        mark = Math.max(mark, rows.getLong(2));
                    }
                }
                connection.commit();
                if (payloads.isEmpty()) {
                    mark = Long.MIN_VALUE; // rows may have been committed below it
                    LockSupport.parkNanos(1_000_000);
                }
                for (Map.Entry<UUID, String> message : payloads.entrySet()) {
                    OursHandlers.handle(connection, message.getValue());
                    settle.setObject(1, message.getKey());
                    settle.setObject(2, token);
                    settle.executeUpdate();
                    connection.commit();
                    deliveries.arrive(message.getValue());
                }
            }
        }
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        return same.unfinished(database);
    }
}
