package dev.outbox.postgres;

import dev.outbox.Status;
import dev.outbox.testkit.InboxSourceFixture;
import dev.outbox.testkit.ItemState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** An inbox table of its own for one test. */
final class PostgresInboxSourceFixture extends InboxSourceFixture {
    private static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final String table;
    private final AtomicLong ticker;

    PostgresInboxSourceFixture() throws SQLException {
        this(DATABASE.newInboxTable(), new AtomicLong());
    }

    private PostgresInboxSourceFixture(String table, AtomicLong ticker) throws SQLException {
        super(
                DATABASE.pool(),
                consumer -> PostgresInbox.builder(DATABASE.pool())
                        .table(table)
                        .consumer(consumer)
                        .ticker(ticker::get)
                        .build());
        this.table = table;
        this.ticker = ticker;
    }

    @Override
    protected List<String> lastItems(int count) {
        return DATABASE.query("SELECT work_item_id FROM (SELECT work_item_id, sequence FROM " + table
                + " WHERE consumer = '" + CONSUMER + "' ORDER BY sequence DESC LIMIT " + count
                + ") last ORDER BY sequence");
    }

    @Override
    public Optional<ItemState> find(String itemId) throws SQLException {
        return DATABASE.find(table, itemId);
    }

    @Override
    public Optional<AutoCloseable> lock(List<String> itemIds) throws SQLException {
        return Optional.of(DATABASE.lock(table, itemIds));
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        PostgresInboxFixture.age(DATABASE, table, step);
    }

    /** As is the default. */
    @Override
    public Optional<Duration> retention() {
        return Optional.of(Duration.ofDays(30));
    }

    @Override
    protected String messageId(String itemId) {
        return DATABASE.query("SELECT message_id FROM " + table + " WHERE work_item_id = ?", UUID.fromString(itemId))
                .get(0);
    }

    @Override
    protected Map<Status, Long> othersRows() {
        return DATABASE.statuses("(SELECT * FROM " + table + " WHERE consumer = '" + OTHER + "') o");
    }

    @Override
    public void close() {
        try {
            super.close();
        } finally {
            DATABASE.execute("DROP TABLE " + table);
        }
    }
}
