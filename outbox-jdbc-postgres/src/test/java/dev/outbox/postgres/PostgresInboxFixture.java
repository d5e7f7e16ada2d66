package dev.outbox.postgres;

import dev.outbox.Inbox;
import dev.outbox.testkit.InboxCrash;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/** An inbox table of its own for one test. Time passes by moving the times of all rows back. */
class PostgresInboxFixture implements InboxFixture {
    private static final OutboxDatabase DATABASE = new OutboxDatabase();

    private final AtomicLong ticker = new AtomicLong();
    private final String table = DATABASE.newInboxTable();
    private final Background background = new Background(DATABASE);

    PostgresInboxFixture() {
        DATABASE.execute("CREATE TABLE " + effectsTable() + " (message_id text NOT NULL)");
    }

    @Override
    public Inbox open(InboxSettings settings) {
        return PostgresInbox.builder(DATABASE.pool())
                .table(table)
                .consumer(settings.consumer())
                .onConflict(settings.onConflict())
                .lockTimeout(settings.lockTimeout())
                .listener(settings.listener())
                .ticker(ticker::get)
                .build();
    }

    @Override
    public DataSource dataSource() {
        return DATABASE.pool();
    }

    @Override
    public String effectsTable() {
        return table + "_effects";
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        age(DATABASE, table, step);
    }

    /** Moves the times of all rows back. */
    static void age(OutboxDatabase database, String table, Duration step) {
        database.execute(
                ("UPDATE %s SET locked_until = locked_until - s.step, due_on = due_on - s.step,"
                                + " first_due_on = first_due_on - s.step,"
                                + " created_on = created_on - s.step, processed_on = processed_on - s.step,"
                                + " first_seen_on = first_seen_on - s.step, last_seen_on = last_seen_on - s.step"
                                + " FROM (SELECT ? * interval '1 microsecond' AS step) s")
                        .formatted(table),
                step.toNanos() / 1_000);
    }

    @Override
    public void awaitBlocked(int sessions) {
        background.awaitWaiting("transactionid", sessions);
    }

    @Override
    public int crash(InboxCrash at, String consumer, String messageId) {
        try (WorkerProcess process = WorkerProcess.start(
                CrashMain.class,
                List.of(at.name(), DATABASE.server().jdbcUrl(), table, effectsTable(), consumer, messageId))) {
            return process.awaitEnd();
        }
    }

    @Override
    public void close() {
        background.close();
        DATABASE.execute("DROP TABLE " + table + ", " + effectsTable());
    }
}
