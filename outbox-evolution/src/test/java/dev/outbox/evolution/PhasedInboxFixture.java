package dev.outbox.evolution;

import static org.awaitility.Awaitility.await;

import dev.outbox.Inbox;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.testkit.Feature;
import dev.outbox.testkit.InboxCrash;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxSettings;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.opentest4j.TestAbortedException;

/** The inbox table of a phase, emptied for each test. Time passes by moving the times of all rows back. */
final class PhasedInboxFixture implements InboxFixture {
    private final AtomicLong ticker = new AtomicLong();
    private final PhasedTable table;

    PhasedInboxFixture(PhasedTable table) {
        this.table = table;
        table.execute("CREATE TABLE IF NOT EXISTS effects (message_id text NOT NULL)");
        table.execute("TRUNCATE inbox, effects");
    }

    @Override
    public Inbox open(InboxSettings settings) {
        return PostgresInbox.builder(table.pool())
                .consumer(settings.consumer())
                .onConflict(settings.onConflict())
                .lockTimeout(settings.lockTimeout())
                .listener(settings.listener())
                .ticker(ticker::get)
                .build();
    }

    @Override
    public DataSource dataSource() {
        return table.pool();
    }

    @Override
    public String effectsTable() {
        return "effects";
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        StringBuilder set = new StringBuilder();
        for (String[] names : new String[][] {
            {"LockedUntil", "locked_until"},
            {"DueTimeUtc", "due_on"},
            {"ProcessedUtc", "processed_on"},
            {"FirstSeenUtc", "first_seen_on"},
            {"LastSeenUtc", "last_seen_on"}
        }) {
            String column = table.column("inbox", names[0], names[1]);
            set.append(set.isEmpty() ? "" : ", ").append("%1$s = %1$s - s.step".formatted(column));
        }
        table.execute(
                "UPDATE inbox SET " + set + " FROM (SELECT ? * interval '1 microsecond' AS step) s",
                step.toNanos() / 1_000);
    }

    @Override
    public void awaitBlocked(int sessions) {
        await().atMost(Duration.ofMinutes(1))
                .until(() -> table.query("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND wait_event = 'transactionid'")
                        .get(0)
                        .equals(String.valueOf(sessions)));
    }

    @Override
    public int crash(InboxCrash at, String consumer, String messageId) {
        throw new TestAbortedException("crashes are tested on the canonical table");
    }

    @Override
    public Set<Feature> lacks() {
        return table.inboxLacks();
    }

    @Override
    public void close() {
        // The table is emptied by the next one.
    }
}
