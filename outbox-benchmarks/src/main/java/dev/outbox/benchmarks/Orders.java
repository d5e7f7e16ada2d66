package dev.outbox.benchmarks;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The business table: each transaction that stores messages also stores one row here. */
final class Orders {
    private static final String TABLE =
            "CREATE TABLE orders (id bigint PRIMARY KEY, customer text NOT NULL, cents int NOT NULL)";
    private static final String INSERT = "INSERT INTO orders (id, customer, cents) VALUES (?, ?, ?)";

    private Orders() {}

    static void install(Database database) throws SQLException {
        database.execute(TABLE);
    }

    static void insert(Connection tx, int id) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement(INSERT)) {
            insert.setLong(1, id);
            insert.setString(2, "customer");
            insert.setInt(3, 1_999);
            insert.executeUpdate();
        }
    }

    static long count(Database database) throws SQLException {
        return database.count("SELECT count(*) FROM orders");
    }
}
