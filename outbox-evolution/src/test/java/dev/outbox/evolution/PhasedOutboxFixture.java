package dev.outbox.evolution;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Source;
import dev.outbox.testkit.Feature;
import dev.outbox.testkit.ItemState;
import dev.outbox.testkit.SourceFixture;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** The outbox table of a phase, emptied for each test. Time passes by moving the times of all rows back. */
final class PhasedOutboxFixture implements SourceFixture {
    private final AtomicLong ticker = new AtomicLong();
    private final PhasedTable table;
    private final Outbox outbox;
    private final String id;
    private final String status;
    private final String attempts;
    private final String lastError;
    private final String due;
    private final String created;
    private final String lockedUntil;
    private final String processed;

    PhasedOutboxFixture(PhasedTable table) {
        this.table = table;
        table.execute("TRUNCATE outbox");
        this.outbox = PostgresOutbox.builder(table.pool()).ticker(ticker::get).build();
        this.id = table.column("outbox", "Id", "work_item_id");
        this.status = table.column("outbox", "Status", "status");
        this.attempts = table.column("outbox", "RetryCount", "attempt_count");
        this.lastError = table.column("outbox", "LastError", "last_error");
        this.due = table.column("outbox", "DueTimeUtc", "due_on");
        this.created = table.column("outbox", "CreatedAt", "created_on");
        this.lockedUntil = table.column("outbox", "LockedUntil", "locked_until");
        this.processed = table.column("outbox", "ProcessedAt", "processed_on");
    }

    @Override
    public Source newSource() {
        return outbox.source();
    }

    @Override
    public List<String> enqueue(List<Message> messages) throws SQLException {
        try (Connection tx = table.pool().getConnection()) {
            tx.setAutoCommit(false);
            List<String> messageIds = outbox.enqueueAll(tx, messages).stored();
            tx.commit();
            tx.setAutoCommit(true);
            return table.isNew()
                    ? table.query("SELECT work_item_id FROM (SELECT work_item_id, sequence FROM outbox"
                            + " ORDER BY sequence DESC LIMIT " + messages.size() + ") last ORDER BY sequence")
                    : messageIds;
        }
    }

    @Override
    public Optional<ItemState> find(String itemId) {
        List<String> found = table.query(
                "SELECT " + status + " || ',' || " + attempts + " || ',' || COALESCE(" + lastError
                        + ", '') FROM outbox WHERE " + id + " = ?",
                UUID.fromString(itemId));
        return found.stream().findFirst().map(row -> {
            String[] parts = row.split(",", 3);
            return new ItemState(
                    itemId,
                    Status.ofCode(Integer.parseInt(parts[0])),
                    Integer.parseInt(parts[1]),
                    parts[2].isEmpty() ? null : parts[2]);
        });
    }

    @Override
    public Optional<AutoCloseable> lock(List<String> itemIds) throws SQLException {
        Connection tx = table.pool().getConnection();
        tx.setAutoCommit(false);
        try (PreparedStatement lock =
                tx.prepareStatement("SELECT FROM outbox WHERE " + id + " = ANY (?::uuid[]) FOR UPDATE")) {
            lock.setArray(1, tx.createArrayOf("text", itemIds.toArray()));
            lock.execute();
        }
        return Optional.of(() -> {
            tx.rollback();
            tx.close();
        });
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        table.execute(
                "UPDATE outbox SET %1$s = %1$s - s.step, %2$s = %2$s - s.step, %3$s = %3$s - s.step"
                                .formatted(lockedUntil, due, created)
                        + (remembersFirstDue() ? ", first_due_on = first_due_on - s.step" : "")
                        + " FROM (SELECT ? * interval '1 microsecond' AS step) s",
                step.toNanos() / 1_000);
    }

    @Override
    public void requeue(String itemId) {
        table.execute(
                "UPDATE outbox SET %s = 0, %s = 0, %s = NULL, %s = statement_timestamp()%s WHERE %s = ?"
                        .formatted(
                                status,
                                attempts,
                                processed,
                                due,
                                remembersFirstDue() ? ", first_due_on = NULL" : "",
                                id),
                UUID.fromString(itemId));
    }

    private boolean remembersFirstDue() {
        return !lacks().contains(Feature.FIRST_DUE_TIMES);
    }

    @Override
    public Set<Feature> lacks() {
        return table.lacks();
    }

    @Override
    public void close() {
        // The table is emptied by the next one.
    }
}
