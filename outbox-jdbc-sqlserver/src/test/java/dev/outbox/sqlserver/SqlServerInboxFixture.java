package dev.outbox.sqlserver;

import dev.outbox.Inbox;
import dev.outbox.testkit.InboxCrash;
import dev.outbox.testkit.InboxFixture;
import dev.outbox.testkit.InboxSettings;
import java.io.File;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;
import org.awaitility.Awaitility;

/** An empty inbox table for one test; time passes by moving the times of all rows back. */
public final class SqlServerInboxFixture implements InboxFixture {
    static final List<String> TIMES =
            List.of("LockedUntil", "DueOn", "FirstDueOn", "CreatedOn", "ProcessedOn", "FirstSeenOn", "LastSeenOn");

    private static final String EFFECTS = "contract_effects";

    private final AtomicLong ticker = new AtomicLong();
    private final SqlServerDatabase database;
    private final String table;

    public SqlServerInboxFixture(SqlServerDatabase database) {
        this.database = database;
        this.table = database.emptyInboxTable();
        database.execute("DROP TABLE IF EXISTS " + EFFECTS);
        database.execute("CREATE TABLE " + EFFECTS + " (message_id nvarchar(255) NOT NULL)");
    }

    @Override
    public Inbox open(InboxSettings settings) {
        return SqlServerInbox.builder(database.pool())
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
        return database.pool();
    }

    @Override
    public String effectsTable() {
        return EFFECTS;
    }

    @Override
    public void advance(Duration step) {
        ticker.addAndGet(step.toNanos());
        age(database, table, TIMES, step);
    }

    /** Moves these times of all rows back. */
    public static void age(SqlServerDatabase database, String table, List<String> columns, Duration step) {
        int seconds = Math.toIntExact(step.toSeconds());
        int milliseconds = step.toMillisPart();
        List<String> moved = new ArrayList<>();
        List<Object> parameters = new ArrayList<>();
        for (String column : columns) {
            moved.add(column + " = DATEADD(millisecond, -CAST(? AS int), DATEADD(second, -CAST(? AS int), " + column
                    + "))");
            parameters.addAll(List.of(milliseconds, seconds));
        }
        database.execute("UPDATE " + table + " SET " + String.join(", ", moved), parameters.toArray());
    }

    /** By asking what it knows about sessions that wait for others. */
    @Override
    public void awaitBlocked(int sessions) {
        Awaitility.await().atMost(Duration.ofMinutes(1)).until(() -> database.blockedSessions() == sessions);
    }

    /** A receipt is a subtransaction on Babelfish, and slow. */
    @Override
    public int rivalMessages() {
        return database.isBabelfish() ? 500 : InboxFixture.super.rivalMessages();
    }

    @Override
    public int crash(InboxCrash at, String consumer, String messageId) throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        CrashMain.class.getName(),
                        at.name(),
                        database.url(),
                        table,
                        EFFECTS,
                        consumer,
                        messageId)
                .redirectErrorStream(true)
                .redirectOutput(File.createTempFile("crash", ".log"))
                .start();
        try {
            if (!process.waitFor(2, TimeUnit.MINUTES)) {
                throw new AssertionError("the JVM that shall crash still runs after 2 min");
            }
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    @Override
    public void close() {}
}
