package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Watches how long applications wait for locks; a migration may wait as long as it likes.
 *
 * <p>Whoever holds a lock while the machine stands still keeps the others waiting through no fault of its own. So a
 * transaction that touches nothing of theirs is timed all the while, and what it is late by is not held against anybody.
 */
final class LockWaits implements AutoCloseable {
    static final String MIGRATION = "migration";

    private static final String LONGEST = """
            SELECT COALESCE(max(EXTRACT(EPOCH FROM clock_timestamp() - l.waitstart)), 0) * 1000000
            FROM pg_locks l JOIN pg_stat_activity a USING (pid)
            WHERE NOT l.granted AND a.datname = current_database() AND a.backend_type = 'client backend'
              AND a.application_name <> 'migration'
            """;

    /** What an idle machine takes for a small transaction and the rest after it, and some more. */
    private static final Duration USUAL = Duration.ofMillis(30);

    private final Thread waits;
    private final Thread pulse;
    private volatile boolean stopped;
    private volatile Duration longest = Duration.ZERO;
    private volatile Duration stalled = Duration.ZERO;
    private final AtomicInteger looks = new AtomicInteger();

    LockWaits(DataSource dataSource) {
        waits = new Thread(() -> watch(dataSource), "lock-waits");
        pulse = new Thread(() -> pulse(dataSource), "pulse");
        waits.start();
        pulse.start();
    }

    private void pulse(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE pulse (beat int)");
            while (!stopped) {
                long begin = System.nanoTime();
                statement.execute("INSERT INTO pulse VALUES (1)");
                LockSupport.parkNanos(20_000_000);
                Duration late = Duration.ofNanos(System.nanoTime() - begin).minus(USUAL);
                stalled = late.isNegative() ? stalled : stalled.plus(late);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How long the machine itself kept everybody waiting, in all. */
    Duration stalled() {
        return stalled;
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
        LiveApplications.join(waits);
        LiveApplications.join(pulse);
    }
}
