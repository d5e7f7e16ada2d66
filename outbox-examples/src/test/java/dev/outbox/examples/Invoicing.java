package dev.outbox.examples;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.delivery.UnroutedTopic;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

/** A consumer of orders that writes one invoice for each. */
final class Invoicing {
    private final DataSource dataSource;
    private final Inbox inbox;

    Invoicing(DataSource dataSource, Inbox inbox) {
        this.dataSource = dataSource;
        this.inbox = inbox;
    }

    /** What a broker's client hands to its listener. */
    record Delivery(String messageId, String topic, String key, Map<String, String> headers, String body) {}

    void onMessage(Delivery delivery) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            Incoming incoming = Incoming.from("shop", delivery.messageId()).payload(delivery.body());
            switch (inbox.receive(tx, incoming).kind()) {
                case FIRST -> createInvoice(tx, delivery.body());
                case DUPLICATE -> {} // the invoice is there
                case CONFLICT ->
                    throw new AssertionError("thrown as a ConflictException, unless onConflict(...) is set");
            }
            tx.commit();
        }
        // only now: acknowledge to the broker
    }

    void onMessageWithRetries(Delivery delivery) throws SQLException {
        Incoming incoming = Incoming.from("shop", delivery.messageId()).payload(delivery.body());
        for (int attempt = 1; ; attempt++) {
            try {
                inbox.transaction(
                        dataSource, tx -> inbox.receive(tx, incoming, first -> createInvoice(first, delivery.body())));
                return;
            } catch (OutboxException e) {
                if (!e.isRetryable() || attempt == 3) {
                    throw e;
                }
            }
        }
    }

    void giveUp(Delivery delivery, String reason) throws SQLException {
        Incoming incoming = Incoming.from("shop", delivery.messageId()).payload(delivery.body());
        inbox.transaction(
                dataSource,
                tx -> inbox.receive(tx, incoming).isFirst()
                        && inbox.markDead(tx, "shop", delivery.messageId(), reason));
    }

    void storeForLater(Delivery delivery) throws SQLException {
        inbox.transaction(
                dataSource,
                tx -> inbox.enqueue(
                        tx,
                        Incoming.from("shop", delivery.messageId())
                                .topic(delivery.topic())
                                .key(delivery.key())
                                .headers(delivery.headers())
                                .payload(delivery.body())));
    }

    Poller start() {
        return inbox.poller()
                .inTransaction(TransactionalDestination.byTopic()
                        .route("orders.placed", this::invoice)
                        .route("orders.cancelled", this::refund)
                        .otherwise(UnroutedTopic.DEAD))
                .start();
    }

    private void invoice(Connection tx, WorkItem item) throws SQLException {
        createInvoice(tx, item.payload());
    }

    private void refund(Connection tx, WorkItem item) throws SQLException {
        if (item.payload().isEmpty()) {
            throw new PermanentFailureException("nothing to refund");
        }
        createInvoice(tx, "refund of " + item.payload());
    }

    private static void createInvoice(Connection tx, String content) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO invoices (content) VALUES (?)")) {
            insert.setString(1, content);
            insert.executeUpdate();
        }
    }
}
