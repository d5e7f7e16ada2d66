package dev.outbox.examples;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Ways to place an order on plain JDBC. */
final class PlainJdbcOrders {
    private final DataSource dataSource;
    private final Outbox outbox;

    PlainJdbcOrders(DataSource dataSource, Outbox outbox) {
        this.dataSource = dataSource;
        this.outbox = outbox;
    }

    void placeByHand(String order) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            insert(tx, order);
            outbox.enqueue(tx, Message.to("orders.placed").payload(order));
            tx.commit();
        }
        outbox.wakeUp();
    }

    void placeWithHelper(String order) throws SQLException {
        outbox.transaction(dataSource, tx -> {
            insert(tx, order);
            return outbox.enqueue(tx, Message.to("orders.placed").payload(order));
        });
    }

    void placeOnWakingDataSource(String order) throws SQLException {
        DataSource waking = outbox.waking(dataSource); // once, where the data source is made

        try (Connection tx = waking.getConnection()) {
            tx.setAutoCommit(false);
            insert(tx, order);
            outbox.enqueue(tx, Message.to("orders.placed").payload(order));
            tx.commit(); // wakes
        }
    }

    /** Again after a deadlock or a lost connection, and never twice. */
    void placeOnce(String order) throws SQLException {
        for (int attempt = 1; ; attempt++) {
            try {
                outbox.transaction(dataSource, tx -> {
                    if (insertIfNew(tx, order)) {
                        outbox.enqueue(
                                tx,
                                Message.to("orders.placed")
                                        .id("placed-" + order)
                                        .payload(order));
                    }
                    return order;
                });
                return;
            } catch (OutboxException e) {
                if (attempt == 3 || !(e.isRetryable() || e instanceof UnknownCommitException)) {
                    throw e;
                }
            }
        }
    }

    /** By the order's own id: a repetition finds what an earlier commit has stored. */
    static boolean insertIfNew(Connection tx, String order) throws SQLException {
        try (PreparedStatement insert =
                tx.prepareStatement("INSERT INTO orders (id) VALUES (?) ON CONFLICT DO NOTHING")) {
            insert.setString(1, order);
            return insert.executeUpdate() == 1;
        }
    }

    static void insert(Connection tx, String order) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }
}
