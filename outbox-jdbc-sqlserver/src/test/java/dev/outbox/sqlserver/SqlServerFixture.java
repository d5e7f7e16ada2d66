package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.spi.Source;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.SourceFixture;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An empty outbox table for one test; tests one after the other share it, because to create one takes longer than to
 * empty it. Time passes by moving the times of all rows back and the
 * sources' ticker on.
 */
final class SqlServerFixture implements SourceFixture {
    private static final Duration RETENTION = Duration.ofDays(1);

    private final AtomicLong ticker = new AtomicLong();
    private final SqlServerDatabase database;
    private final String table;
    private final Ack ack;
    private final Outbox outbox;

    SqlServerFixture(SqlServerDatabase database, Ack ack) {
        this.database = database;
        this.table = database.emptyTable();
        this.ack = ack;
        this.outbox = SqlServerOutbox.builder(database.pool())
                .table(table)
                .ack(ack)
                .retention(RETENTION)
                .ordering(Ordering.STRICT)
                .ticker(ticker::get)
                .build();
    }

    @Override
    public Source newSource() {
        return outbox.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) {
        database.commit(outbox, messages);
        return database.lastItems(table, "1 = 1", messages.size());
    }

    @Override
    public Optional<ItemState> find(String itemId) throws SQLException {
        return database.find(table, itemId);
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        SqlServerInboxFixture.age(
                database, table, List.of("LockedUntil", "DueOn", "FirstDueOn", "CreatedOn", "ProcessedOn"), step);
    }

    @Override
    public void requeue(String itemId) {
        database.execute(
                "UPDATE " + table + " SET Status = 0, AttemptCount = 0, ProcessedOn = NULL, BlocksKey = 0,"
                        + " DueOn = SYSUTCDATETIME(), FirstDueOn = NULL WHERE WorkItemId = CAST(? AS uniqueidentifier)",
                itemId);
    }

    @Override
    public boolean keepsDone() {
        return ack == Ack.KEEP;
    }

    @Override
    public Optional<Duration> retention() {
        return keepsDone() ? Optional.of(RETENTION) : Optional.empty();
    }

    @Override
    public void close() {}
}
