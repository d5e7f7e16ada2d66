package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.TableSettings;
import java.lang.ref.WeakReference;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A table as it was found last. A migration may change it while we run; then the statements made for it are made anew,
 * and nobody has to restart.
 *
 * <p>While the table is on its way, a thread of its own looks at it from time to time, on a connection of its own: no
 * call waits for that, and no catalog query runs in a caller's transaction. The migrations give every instance time to
 * look before they take away what it names. A canonical table does not change any more: it has no thread and costs
 * nothing. The thread ends with the table's last user, or when the table is canonical.
 */
final class LiveTable {
    private static final Logger LOG = LoggerFactory.getLogger(LiveTable.class);

    /** No such column, no such table, no such unique index: what a statement meets that was made for another phase. */
    private static final Set<String> CHANGED = Set.of("42703", "42P01", "42P10");

    private final Connections connections;
    private final TableSettings.Detection<PostgresTable> detection;
    private volatile Seen seen;
    private boolean failed;

    /** @param number counts the times that it was found otherwise */
    private record Seen(int number, PostgresTable table) {}

    LiveTable(Connections connections, TableSettings.Detection<PostgresTable> detection, PostgresTable table) {
        this.connections = connections;
        this.detection = detection;
        this.seen = new Seen(0, table);
    }

    PostgresTable now() {
        return seen.table;
    }

    /** Whether the table will stay as it is. */
    boolean isSettled() {
        return now().phase() == Phase.CLEAN;
    }

    /** What this makes of the table, made anew when the table has changed. */
    <T> Supplier<T> per(Function<PostgresTable, T> maker) {
        return new Made<>(this, maker);
    }

    private static final class Made<T> implements Supplier<T> {
        private final LiveTable live;
        private final Function<PostgresTable, T> maker;
        private volatile @Nullable Version<T> version;

        private record Version<T>(int of, T value) {}

        Made(LiveTable live, Function<PostgresTable, T> maker) {
            this.live = live;
            this.maker = maker;
        }

        @Override
        public T get() {
            Version<T> last = version;
            return last != null && last.of == live.seen.number ? last.value : renewed();
        }

        private synchronized T renewed() {
            Seen seen = live.seen;
            Version<T> last = version;
            if (last == null || last.of != seen.number) {
                last = new Version<>(seen.number, maker.apply(seen.table));
                version = last;
            }
            return last.value;
        }
    }

    /** Runs it, and once more if it failed because the table has changed. Not for a caller's transaction. */
    <T> T adapting(Supplier<T> work) {
        try {
            return work.get();
        } catch (OutboxException e) {
            if (e.sqlState() != null && CHANGED.contains(e.sqlState()) && refresh()) {
                return work.get();
            }
            throw e;
        }
    }

    /** Looks at the table; whether it has changed. */
    synchronized boolean refresh() {
        PostgresTable before = now();
        try (Borrowed borrowed = connections.autoCommitting()) {
            PostgresTable found = detection.detect(borrowed.connection(), before.name());
            if (found.equals(before)) {
                return false;
            }
            if (found.phase() != before.phase()) {
                LOG.info("table {} is in {} now, was in {}", found.name(), found.phase(), before.phase());
            }
            seen = new Seen(seen.number + 1, found);
            return true;
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look at table " + before.name(), e);
        }
    }

    /** Starts to look at the table every so often. */
    void watch(Duration interval) {
        if (isSettled()) {
            return;
        }
        WeakReference<LiveTable> watched = new WeakReference<>(this);
        Thread thread = new Thread(() -> watch(watched, interval), "outbox-watch-" + now().name());
        thread.setDaemon(true);
        thread.start();
    }

    private static void watch(WeakReference<LiveTable> watched, Duration interval) {
        do {
            LockSupport.parkNanos(interval.toNanos());
        } while (!Thread.currentThread().isInterrupted() && lookedAt(watched.get()));
    }

    /** Whether to look again. */
    private static boolean lookedAt(@Nullable LiveTable live) {
        if (live == null) {
            return false;
        }
        try {
            live.refresh();
            live.failed = false;
        } catch (RuntimeException e) {
            // Said once: an outage is told of by those it troubles.
            if (!live.failed) {
                LOG.warn("cannot see whether a table has changed, will look again: {}", e.getMessage());
            }
            live.failed = true;
        }
        return !live.isSettled();
    }
}
