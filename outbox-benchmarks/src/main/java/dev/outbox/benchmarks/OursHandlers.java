package dev.outbox.benchmarks;

import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Our poller with an in-transaction handler that writes one row. */
final class OursHandlers implements Relay {
    static final int CONCURRENCY = 4;

    static final String EFFECTS = "CREATE TABLE effects (number int)";
    private static final String EFFECT = "INSERT INTO effects VALUES (?)";

    @Override
    public String name() {
        return "ours-handler";
    }

    @Override
    public String settings() {
        return "inTransaction(...), a handler that inserts one row, concurrency " + CONCURRENCY;
    }

    @Override
    public void store(Database database, Backlog backlog) throws SQLException {
        OutboxTable.install(database);
        OutboxTable.fill(database, backlog);
        database.execute(EFFECTS);
    }

    @Override
    public Running start(DataSource pool, Deliveries deliveries) {
        return PostgresOutbox.create(pool)
                .poller()
                .concurrency(CONCURRENCY)
                .inTransaction((tx, item) -> {
                    handle(tx, item.payload());
                    deliveries.arrive(item.payload());
                })
                .start()::close;
    }

    /** What both handlers do. */
    static void handle(Connection tx, String payload) throws SQLException {
        try (PreparedStatement effect = tx.prepareStatement(EFFECT)) {
            effect.setInt(1, Payload.number(payload));
            effect.executeUpdate();
        }
    }

    @Override
    public long unfinished(Database database) throws SQLException {
        long effects = database.count("SELECT count(*) FROM effects");
        long done = database.count("SELECT count(*) FROM outbox WHERE status = 2");
        if (effects != done) {
            throw new WrongResultException(effects + " effects for " + done + " messages Done");
        }
        return OutboxTable.unfinished(database);
    }
}
