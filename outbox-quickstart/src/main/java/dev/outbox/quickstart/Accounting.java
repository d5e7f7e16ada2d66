package dev.outbox.quickstart;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;
import javax.sql.DataSource;

/** Writes one invoice per message, however often the message arrives. Thread-safe. */
final class Accounting implements Wire.Consumer {
    private static final double CRASHES = 0.02;

    /** The table has no unique column, so that an invoice that is written twice is noticed. */
    private static final String CREATE_TABLE =
            "CREATE TABLE invoices (message_id varchar(50) NOT NULL, content varchar(500) NOT NULL)";

    private static final String INSERT = "INSERT INTO invoices (message_id, content) VALUES (?, ?)";

    private final DataSource dataSource;
    private final Inbox inbox;

    Accounting(DataSource dataSource, Inbox inbox) {
        this.dataSource = dataSource;
        this.inbox = inbox;
    }

    void createTable() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(CREATE_TABLE);
        }
    }

    @Override
    public boolean take(Wire.Parcel parcel) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            Incoming incoming = Incoming.from("shop", parcel.messageId()).payload(parcel.payload());
            inbox.receive(tx, incoming, first -> writeInvoice(first, parcel));
            if (ThreadLocalRandom.current().nextDouble() < CRASHES) {
                tx.rollback(); // neither a record nor an invoice is stored; the message comes again
                return false;
            }
            tx.commit();
            return true;
        }
    }

    private static void writeInvoice(Connection tx, Wire.Parcel parcel) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement(INSERT)) {
            insert.setString(1, parcel.messageId());
            insert.setString(2, parcel.payload());
            insert.executeUpdate();
        }
    }
}
