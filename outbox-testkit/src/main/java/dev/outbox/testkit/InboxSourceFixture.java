package dev.outbox.testkit;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Status;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import javax.sql.DataSource;

/**
 * The source of an inbox as {@link SourceContract} sees it, in a table that also holds rows it must not touch: rows of
 * another consumer with the same keys and topics, some of them leased, and records of received messages.
 */
public abstract class InboxSourceFixture implements SourceFixture {
    /** The consumer whose source is tested. */
    protected static final String CONSUMER = "billing";

    /** The other consumer, whose rows must not change. */
    protected static final String OTHER = "shipping";

    private static final String SOURCE = "shop";

    private final AtomicInteger ids = new AtomicInteger();
    private final DataSource dataSource;
    private final Inbox inbox;

    /** @param open opens the inbox of a consumer over the table, which is empty */
    protected InboxSourceFixture(DataSource dataSource, Function<String, ? extends Inbox> open) throws SQLException {
        this.dataSource = dataSource;
        this.inbox = open.apply(CONSUMER);
        Inbox other = open.apply(OTHER);
        Message message = Message.to("orders.placed");
        enqueue(other, List.of(message.payload("leased"), message.key("a").payload("leased")));
        Source leasing = other.source();
        ClaimRequest request = new ClaimRequest(10, Duration.ofDays(1), 10, Set.of(), "another");
        while (leasing.claim(request).more()) {}
        enqueue(
                other,
                List.of(
                        message.payload("ready"),
                        message.key("a").payload("behind a leased one"),
                        message.key("k").payload("head"),
                        message.dueIn(Duration.ofHours(1)).payload("waiting")));
        transaction(tx -> {
            for (Inbox receiver : List.of(inbox, other)) {
                receiver.receive(tx, Incoming.from(SOURCE, "received").payload(""));
            }
        });
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private void transaction(Work work) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            work.in(tx);
            tx.commit();
            tx.setAutoCommit(true);
        }
    }

    private void enqueue(Inbox inbox, List<Message> messages) throws SQLException {
        transaction(
                tx -> inbox.enqueueAll(tx, messages.stream().map(this::incoming).toList()));
    }

    private Incoming incoming(Message message) {
        String given = message.id();
        Incoming incoming = Incoming.from(SOURCE, given == null ? "m-" + ids.incrementAndGet() : given)
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

    /** The ids of the last {@code count} items of {@link #CONSUMER}, in their order. */
    protected abstract List<String> lastItems(int count);

    /** The message id of an item. */
    protected abstract String messageId(String itemId);

    /** How many rows of {@link #OTHER} are in each status. */
    protected abstract Map<Status, Long> othersRows();

    @Override
    public Source newSource() {
        return inbox.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) throws SQLException {
        enqueue(inbox, messages);
        return lastItems(messages.size());
    }

    @Override
    public void requeue(String itemId) {
        inbox.requeue(SOURCE, messageId(itemId));
    }

    /** Checks that the test changed no row of the other consumer. */
    @Override
    public void close() {
        Map<Status, Long> others = othersRows();
        if (!others.equals(Map.of(Status.READY, 4L, Status.PROCESSING, 2L, Status.DONE, 1L))) {
            throw new AssertionError("rows of another consumer were touched: " + others);
        }
    }
}
