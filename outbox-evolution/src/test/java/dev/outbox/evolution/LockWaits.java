package dev.outbox.evolution;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/**
 * Watches how long applications wait for locks; a migration may wait as long as it likes.
 *
 * <p>Whoever holds a lock while the machine stands still keeps the others waiting through no fault of its own. So a
 * transaction that touches nothing of theirs is timed all the while, and what it is late by while somebody waits is not
 * held against anybody.
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

    /** A time during which somebody waited, or the machine stood still; by {@link System#nanoTime}. */
    record Span(long from, long to) {
        /** How much of it is not within any of these, which do not overlap. */
        Duration without(Iterable<Span> others) {
            long left = to - from;
            for (Span other : others) {
                left -= Math.max(0, Math.min(to, other.to) - Math.max(from, other.from));
            }
            return Duration.ofNanos(left);
        }
    }

    private final Thread waits;
    private final Thread pulse;
    private volatile boolean stopped;
    private volatile long beat = System.nanoTime();
    private final Queue<Span> waited = new ConcurrentLinkedQueue<>();
    private final Queue<Span> stalls = new ConcurrentLinkedQueue<>();
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
                beat = System.nanoTime();
                statement.execute("INSERT INTO pulse VALUES (1)");
                LockSupport.parkNanos(20_000_000);
                noteStall(beat);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void noteStall(long since) {
        long now = System.nanoTime();
        if (now - since > USUAL.toNanos()) {
            stalls.add(new Span(since + USUAL.toNanos(), now));
        }
    }

    private void watch(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            while (!stopped) {
                try (ResultSet row = statement.executeQuery(LONGEST)) {
                    row.next();
                    long now = System.nanoTime();
                    long wait = row.getLong(1) * 1_000;
                    if (wait > 0) {
                        waited.add(new Span(now - wait, now));
                    }
                    looks.incrementAndGet();
                }
                LockSupport.parkNanos(20_000_000);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The longest wait, less what the machine itself stood still of it. */
    Duration longest() {
        if (looks.get() == 0) {
            throw new IllegalStateException("nobody looked");
        }
        noteStall(beat); // the one that has not ended yet
        return waited.stream()
                .map(wait -> wait.without(stalls))
                .max(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    @Override
    public void close() {
        stopped = true;
        LiveApplications.join(waits);
        LiveApplications.join(pulse);
    }
}
