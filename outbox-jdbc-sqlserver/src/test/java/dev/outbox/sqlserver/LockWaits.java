package dev.outbox.sqlserver;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Watches how long applications wait for locks; a migration, known by its name, may wait as long as it likes. */
public final class LockWaits implements AutoCloseable {
    public static final String MIGRATION = "migration";

    public static final String LONGEST = """
            SELECT COALESCE(MAX(r.wait_time), 0) AS longest
            FROM sys.dm_exec_requests r JOIN sys.dm_exec_sessions s ON s.session_id = r.session_id
            WHERE r.wait_type LIKE N'LCK%' AND s.program_name <> N'migration'
            """;

    private final AtomicLong longest = new AtomicLong();
    private final AtomicInteger looks = new AtomicInteger();
    private final Thread watch;
    private volatile boolean stopped;

    public LockWaits(SqlServerDatabase database) {
        watch = new Thread(() -> watch(database), "lock-waits");
        watch.start();
    }

    private void watch(SqlServerDatabase database) {
        try (Connection connection = database.unpooled(MIGRATION).getConnection();
                Statement statement = connection.createStatement()) {
            while (!stopped) {
                try (ResultSet row = statement.executeQuery(LONGEST)) {
                    row.next();
                    longest.accumulateAndGet(row.getLong(1), Math::max);
                }
                looks.incrementAndGet();
                LockSupport.parkNanos(20_000_000);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** So far. */
    public Duration longest() {
        if (looks.get() == 0) {
            throw new IllegalStateException("nobody looked");
        }
        return Duration.ofMillis(longest.get());
    }

    @Override
    public void close() {
        stopped = true;
        try {
            watch.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
