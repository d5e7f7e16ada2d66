package dev.outbox.sqlserver;

import dev.outbox.Status;
import dev.outbox.testkit.InboxSourceFixture;
import dev.outbox.testkit.ItemState;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** An inbox table that tests one after the other share. */
final class SqlServerInboxSourceFixture extends InboxSourceFixture {
    private final SqlServerDatabase database;
    private final String table;
    private final AtomicLong ticker;

    SqlServerInboxSourceFixture(SqlServerDatabase database) throws SQLException {
        this(database, database.emptyInboxTable(), new AtomicLong());
    }

    private SqlServerInboxSourceFixture(SqlServerDatabase database, String table, AtomicLong ticker)
            throws SQLException {
        super(
                database.pool(),
                consumer -> SqlServerInbox.builder(database.pool())
                        .table(table)
                        .consumer(consumer)
                        .ticker(ticker::get)
                        .build());
        this.database = database;
        this.table = table;
        this.ticker = ticker;
    }

    @Override
    protected List<String> lastItems(int count) {
        return database.lastItems(table, "Consumer = N'" + CONSUMER + "'", count);
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
    protected String messageId(String itemId) {
        return database.query(
                        "SELECT MessageId FROM " + table + " WHERE WorkItemId = CAST(? AS uniqueidentifier)", itemId)
                .get(0);
    }

    @Override
    protected Map<Status, Long> othersRows() {
        return database.statuses(table, "Consumer = N'" + OTHER + "'");
    }
}
