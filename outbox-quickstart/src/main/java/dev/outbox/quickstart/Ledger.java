package dev.outbox.quickstart;

import dev.outbox.Status;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * What the database holds in the end, read without the library.
 *
 * @param orders how many orders there are
 * @param entries the stored messages; those of one customer in the order of their commits
 * @param invoicesDue the ids of the messages of that topic
 * @param invoices the message ids of all invoices that were written, due or not
 */
record Ledger(int orders, List<Entry> entries, List<String> invoicesDue, List<String> invoices) {
    /** @param hasOrder whether the order that the message refers to exists */
    record Entry(String messageId, String customer, Status status, boolean hasOrder) {}

    private static final String ORDERS = "SELECT id FROM orders";

    private static final String UNFINISHED = "SELECT count(*) FROM outbox WHERE status < 2";

    private static final String INVOICES = "SELECT message_id FROM invoices";

    private static final Pattern ORDER = Pattern.compile("\"order\":\"([^\"]+)\"");

    static Ledger read(DataSource dataSource, Engine engine) throws SQLException {
        Set<String> orders = new HashSet<>(texts(dataSource, ORDERS));
        List<Entry> entries = new ArrayList<>();
        List<String> invoicesDue = new ArrayList<>();
        try (Connection connection = dataSource.getConnection();
                PreparedStatement select = connection.prepareStatement(engine.entries());
                ResultSet row = select.executeQuery()) {
            while (row.next()) {
                String id = row.getString(1);
                Matcher order = ORDER.matcher(row.getString(5));
                boolean hasOrder = order.find() && orders.contains(order.group(1));
                entries.add(new Entry(id, row.getString(2), Status.ofCode(row.getInt(3)), hasOrder));
                if (row.getString(4).equals(Shop.INVOICES_DUE)) {
                    invoicesDue.add(id);
                }
            }
        }
        return new Ledger(orders.size(), entries, invoicesDue, texts(dataSource, INVOICES));
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
        return Integer.parseInt(texts(dataSource, UNFINISHED).get(0));
    }
}
