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
 * @param invoicesDue the ids of the messages of that topic
 * @param invoices the message ids of all invoices that were written, whether due or not
 */
record Ledger(int orders, List<Entry> entries, List<String> invoicesDue, List<String> invoices) {
    /** @param hasOrder whether the order that the message speaks of exists */
    record Entry(String messageId, String customer, Status status, boolean hasOrder) {}

    private static final String ORDERS = "SELECT count(*) FROM orders";

    private static final String UNFINISHED = "SELECT count(*) FROM outbox WHERE status < 2";

    private static final String INVOICES_DUE = "SELECT work_item_id FROM outbox WHERE topic = 'invoices.due'";

    private static final String INVOICES = "SELECT message_id FROM invoices";

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
        return new Ledger(
                count(dataSource, ORDERS), entries, texts(dataSource, INVOICES_DUE), texts(dataSource, INVOICES));
    }

    private static List<String> texts(DataSource dataSource, String sql) throws SQLException {
        List<String> texts = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement(sql);
                ResultSet row = select.executeQuery()) {
            while (row.next()) {
                texts.add(row.getString(1));
            }
        }
        return texts;
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
