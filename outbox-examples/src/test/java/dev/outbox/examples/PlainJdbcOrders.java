package dev.outbox.examples;

import dev.outbox.Message;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Three ways to place an order on plain JDBC. */
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

    static void insert(Connection tx, String order) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO orders (id) VALUES (?)")) {
            insert.setString(1, order);
            insert.executeUpdate();
        }
    }
}
