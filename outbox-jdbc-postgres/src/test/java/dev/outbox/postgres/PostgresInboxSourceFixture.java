package dev.outbox.postgres;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.SourceFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An inbox table of its own for one test, with rows in it that are none of the source's business: another
 * consumer's, of the same keys and topics, some leased; and records of received messages.
 */
final class PostgresInboxSourceFixture implements SourceFixture {
    private static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final AtomicLong ticker = new AtomicLong();
    private final AtomicInteger ids = new AtomicInteger();
    private final String table = DATABASE.newInboxTable();
    private final PostgresInbox inbox = open("billing");

    PostgresInboxSourceFixture() throws SQLException {
        PostgresInbox other = open("shipping");
        enqueue(
                other,
                List.of(
                        Message.to("orders.placed").payload("leased"),
                        Message.to("orders.placed").key("a").payload("leased")));
        Source leasing = other.source();
        ClaimRequest request = new ClaimRequest(10, Duration.ofDays(1), 10, Set.of(), "another");
        while (leasing.claim(request).more()) {}
        enqueue(
                other,
                List.of(
                        Message.to("orders.placed").payload("ready"),
                        Message.to("orders.placed").key("a").payload("behind a leased one"),
                        Message.to("orders.placed").key("k").payload("head"),
                        Message.to("orders.placed").dueIn(Duration.ofHours(1)).payload("waiting")));
        transaction(tx -> {
            for (PostgresInbox receiver : List.of(inbox, other)) {
                receiver.receive(tx, Incoming.from("shop", "received").payload(""));
            }
        });
    }

    private PostgresInbox open(String consumer) {
        return PostgresInbox.builder(DATABASE.pool())
                .table(table)
                .consumer(consumer)
                .ticker(ticker::get)
                .build();
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private static void transaction(Work work) throws SQLException {
        try (Connection tx = DATABASE.pool().getConnection()) {
            tx.setAutoCommit(false);
            work.in(tx);
            tx.commit();
            tx.setAutoCommit(true);
        }
    }

    private void enqueue(PostgresInbox inbox, List<Message> messages) throws SQLException {
        transaction(
                tx -> inbox.enqueueAll(tx, messages.stream().map(this::incoming).toList()));
    }

    private Incoming incoming(Message message) {
        String given = message.id();
        Incoming incoming = Incoming.from("shop", given == null ? "m-" + ids.incrementAndGet() : given)
                .topic(message.topic())
                .key(message.key())
                .headers(message.headers())
                .correlationId(message.correlationId())
                .tenantId(message.tenantId())
                .contentType(message.contentType())
                .priority(message.priority());
        incoming = message.isBinary() ? incoming.payload(message.payloadBytes()) : incoming.payload(message.payload());
        if (message.due() != null) {
            return incoming.due(message.due());
        }
        return message.dueIn() == null ? incoming : incoming.dueIn(message.dueIn());
    }

    @Override
    public Source newSource() {
        return inbox.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) throws SQLException {
        enqueue(inbox, messages);
        return DATABASE.query("SELECT work_item_id FROM (SELECT work_item_id, sequence FROM " + table
                + " WHERE consumer = 'billing' ORDER BY sequence DESC LIMIT " + messages.size()
                + ") last ORDER BY sequence");
    }

    @Override
    public Optional<ItemState> find(String itemId) throws SQLException {
        return DATABASE.find(table, itemId);
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        PostgresInboxFixture.age(DATABASE, table, step);
    }

    @Override
    public void requeue(String itemId) {
        String messageId = DATABASE.query(
                        "SELECT message_id FROM " + table + " WHERE work_item_id = ?", UUID.fromString(itemId))
                .get(0);
        inbox.requeue("shop", messageId);
    }

    /** Whatever the test did, the others' rows are as they were. */
    @Override
    public void close() {
        Map<Status, Long> others = DATABASE.statuses("(SELECT * FROM " + table + " WHERE consumer = 'shipping') o");
        DATABASE.execute("DROP TABLE " + table);
        if (!others.equals(Map.of(Status.READY, 4L, Status.PROCESSING, 2L, Status.DONE, 1L))) {
            throw new AssertionError("rows of another consumer were touched: " + others);
        }
    }
}
