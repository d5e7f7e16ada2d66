package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** Watches how long applications wait for locks; a migration may wait as long as it likes. */
final class LockWaits implements AutoCloseable {
    static final String MIGRATION = "migration";

    private static final String LONGEST = """
            SELECT COALESCE(max(EXTRACT(EPOCH FROM clock_timestamp() - l.waitstart)), 0) * 1000000
            FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE NOT l.granted AND a.datname = current_database() AND a.backend_type = 'client backend'
              AND a.application_name <> 'migration'
            """;

    private final Thread thread;
    private volatile boolean stopped;
    private volatile Duration longest = Duration.ZERO;
    private final AtomicInteger looks = new AtomicInteger();

    LockWaits(DataSource dataSource) {
        thread = new Thread(() -> watch(dataSource), "lock-waits");
        thread.start();
    }

    private void watch(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            while (!stopped) {
                try (ResultSet row = statement.executeQuery(LONGEST)) {
                    row.next();
                    Duration wait = Duration.ofNanos(row.getLong(1) * 1_000);
                    longest = wait.compareTo(longest) > 0 ? wait : longest;
                    looks.incrementAndGet();
                }
                LockSupport.parkNanos(20_000_000);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    Duration longest() {
        if (looks.get() == 0) {
            throw new IllegalStateException("nobody looked");
        }
        return longest;
    }

    @Override
    public void close() {
        stopped = true;
        LiveApplications.join(thread);
    }
}
