package dev.outbox.quickstart;

import dev.outbox.Message;
import dev.outbox.Outbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;

/** Places orders. An order and its messages are one transaction: all of it is stored, or nothing. Thread-safe. */
final class Shop {
    static final int MESSAGES_PER_ORDER = 3;
    static final String INVOICES_DUE = "invoices.due";

    private static final String CREATE_TABLE = """
            CREATE TABLE orders (
                id       varchar(50) PRIMARY KEY,
                customer varchar(50) NOT NULL,
                cents    integer     NOT NULL
            )
            """;

    private static final String INSERT = "INSERT INTO orders (id, customer, cents) VALUES (?, ?, ?)";

    private final DataSource dataSource;
    private final Outbox outbox;
    private final AtomicInteger placed = new AtomicInteger();
    private final AtomicInteger rolledBack = new AtomicInteger();

    Shop(DataSource dataSource, Outbox outbox) {
        this.dataSource = dataSource;
        this.outbox = outbox;
    }

    void createTable() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CREATE_TABLE);
        }
    }

    void place(Order order) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            insert(tx, order);
            outbox.enqueue(tx, Message.to("orders.placed").key(order.customer()).payload(order.json()));
            outbox.enqueue(tx, Message.to("invoices.due").key(order.customer()).payload(order.json()));
            outbox.enqueue(tx, Message.to("parcels.due").key(order.customer()).payload(order.json()));
            if (order.cancelled()) {
                tx.rollback(); // no order, no messages
            } else {
                tx.commit();
            }
        }
        (order.cancelled() ? rolledBack : placed).incrementAndGet();
    }

    private static void insert(Connection tx, Order order) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement(INSERT)) {
            insert.setString(1, order.id());
            insert.setString(2, order.customer());
            insert.setInt(3, order.cents());
            insert.executeUpdate();
        }
    }

    /** How many orders were committed. */
    int placed() {
        return placed.get();
    }

    /** How many orders were rolled back. */
    int rolledBack() {
        return rolledBack.get();
    }
}
