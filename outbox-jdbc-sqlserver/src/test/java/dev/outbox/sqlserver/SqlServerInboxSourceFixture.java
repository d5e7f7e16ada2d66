package dev.outbox.sqlserver;

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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An inbox table with rows in it that are none of the source's business: another consumer's, of the same keys and
 * topics, some leased; and records of received messages.
 */
final class SqlServerInboxSourceFixture implements SourceFixture {
    private final AtomicLong ticker = new AtomicLong();
    private final AtomicInteger ids = new AtomicInteger();
    private final SqlServerDatabase database;
    private final String table;
    private final SqlServerInbox inbox;

    SqlServerInboxSourceFixture(SqlServerDatabase database) throws SQLException {
        this.database = database;
        this.table = database.emptyInboxTable();
        this.inbox = open("billing");
        SqlServerInbox other = open("shipping");
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
            for (SqlServerInbox receiver : List.of(inbox, other)) {
                receiver.receive(tx, Incoming.from("shop", "received").payload(""));
            }
        });
    }

    private SqlServerInbox open(String consumer) {
        return SqlServerInbox.builder(database.pool())
                .table(table)
                .consumer(consumer)
                .ticker(ticker::get)
                .build();
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private void transaction(Work work) throws SQLException {
        try (Connection tx = database.pool().getConnection()) {
            tx.setAutoCommit(false);
            work.in(tx);
            tx.commit();
            tx.setAutoCommit(true);
        }
    }

    private void enqueue(SqlServerInbox inbox, List<Message> messages) throws SQLException {
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
        return database.lastItems(table, "Consumer = N'billing'", messages.size());
    }

    @Override
    public Optional<ItemState> find(String itemId) throws SQLException {
        return database.find(table, itemId);
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        SqlServerInboxFixture.age(database, table, SqlServerInboxFixture.TIMES, step);
    }

    @Override
    public void requeue(String itemId) {
        String messageId = database.query(
                        "SELECT MessageId FROM " + table + " WHERE WorkItemId = CAST(? AS uniqueidentifier)", itemId)
                .get(0);
        inbox.requeue("shop", messageId);
    }

    /** Whatever the test did, the others' rows are as they were. */
    @Override
    public void close() {
        Map<Status, Long> others = database.statuses(table, "Consumer = N'shipping'");
        if (!others.equals(Map.of(Status.READY, 4L, Status.PROCESSING, 2L, Status.DONE, 1L))) {
            throw new AssertionError("rows of another consumer were touched: " + others);
        }
    }
}
