package dev.outbox.quickstart;

import dev.outbox.Status;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/**
 * What the database holds in the end, read past the library.
 *
 * @param orders how many orders there are
 * @param entries the stored messages; those of one customer in the order of their commits
 */
record Ledger(int orders, List<Entry> entries) {
    /** @param hasOrder whether the order that the message speaks of exists */
    record Entry(String messageId, String customer, Status status, boolean hasOrder) {}

    private static final String ORDERS = "SELECT count(*) FROM orders";

    private static final String UNFINISHED = "SELECT count(*) FROM outbox WHERE status < 2";

    private static final String ENTRIES = """
            SELECT m.work_item_id, m.message_key, m.status, o.id IS NOT NULL
            FROM outbox m LEFT JOIN orders o ON o.id = m.payload::json ->> 'order'
            ORDER BY m.sequence
            """;

    static Ledger read(DataSource dataSource) throws SQLException {
        List<Entry> entries = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement(ENTRIES);
                ResultSet row = select.executeQuery()) {
            while (row.next()) {
                entries.add(
                        new Entry(row.getString(1), row.getString(2), Status.ofCode(row.getInt(3)), row.getBoolean(4)));
            }
        }
        return new Ledger(count(dataSource, ORDERS), entries);
    }

    /** Messages that are neither Done nor Dead. */
    static int unfinished(DataSource dataSource) throws SQLException {
        return count(dataSource, UNFINISHED);
    }

    private static int count(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement(sql);
                ResultSet row = select.executeQuery()) {
            row.next();
            return row.getInt(1);
        }
    }
}
