package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.Source;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.SourceFixture;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An outbox table of its own for one test. Time passes by moving the times of all rows back and the
 * sources' ticker on.
 */
final class PostgresFixture implements SourceFixture {
    private static final OutboxDatabase DATABASE = new OutboxDatabase();
    private static final Duration RETENTION = Duration.ofDays(1);

    static {
        OutboxMigrations.installAdmin(DATABASE.pool());
    }

    private final AtomicLong ticker = new AtomicLong();
    private final String table = DATABASE.newTable();
    private final Ack ack;
    private final Outbox outbox;

    PostgresFixture(Ack ack) {
        this.ack = ack;
        this.outbox = PostgresOutbox.builder(DATABASE.pool())
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
        DATABASE.commit(outbox, messages);
        return DATABASE.query("SELECT work_item_id FROM (SELECT work_item_id, sequence FROM " + table
                + " ORDER BY sequence DESC LIMIT " + messages.size() + ") last ORDER BY sequence");
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
        DATABASE.execute(
                "UPDATE " + table + " SET locked_until = locked_until - s.step, due_on = due_on - s.step,"
                        + " first_due_on = first_due_on - s.step, created_on = created_on - s.step,"
                        + " processed_on = processed_on - s.step"
                        + " FROM (SELECT ? * interval '1 microsecond' AS step) s",
                step.toNanos() / 1_000);
    }

    @Override
    public void requeue(String itemId) {
        DATABASE.execute(
                "UPDATE " + table + " SET status = 0, attempt_count = 0, processed_on = NULL,"
                        + " due_on = statement_timestamp(), first_due_on = NULL WHERE work_item_id = ?",
                UUID.fromString(itemId));
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
    public Optional<Set<String>> pollers() {
        return Optional.of(
                Set.copyOf(DATABASE.query("SELECT poller FROM outbox_pollers WHERE table_name LIKE ?", "%" + table)));
    }

    @Override
    public void close() {
        DATABASE.execute("DROP TABLE " + table);
    }
}
