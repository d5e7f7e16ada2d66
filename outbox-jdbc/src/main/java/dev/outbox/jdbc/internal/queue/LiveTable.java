package dev.outbox.jdbc.internal.queue;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import java.lang.ref.WeakReference;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
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
 *
 * @param <T> what a database knows of a table
 */
public final class LiveTable<T extends LiveTable.Seen> {
    private static final Logger LOG = LoggerFactory.getLogger(LiveTable.class);

    private static final Duration LONGEST_LOOK = Duration.ofSeconds(30);

    private final Connections connections;
    private final Detection<T> detection;
    private final Predicate<OutboxException> changed;
    private volatile Version<T> version;
    private boolean failed;

    /** How a table is looked at. */
    public interface Detection<T> {
        T detect(Connection connection, TableName name) throws SQLException;
    }

    /** A table as it was found. Two of them are equal if the same statements serve both. */
    public interface Seen {
        TableName name();

        Phase phase();
    }

    /** @param number counts the times that it was found otherwise */
    private record Version<T>(int number, T table) {}

    /** @param changed whether this is what a statement meets that was made for another phase */
    public LiveTable(Connections connections, Detection<T> detection, Predicate<OutboxException> changed, T table) {
        this.connections = connections;
        this.detection = detection;
        this.changed = changed;
        this.version = new Version<>(0, table);
    }

    public T now() {
        return version.table;
    }

    /** Whether no migration will change the table any more. */
    public boolean isCanonical() {
        return now().phase() == Phase.CLEAN;
    }

    /** What this makes of the table, made anew when the table has changed. */
    public <V> Supplier<V> per(Function<T, V> maker) {
        return new Made<>(this, maker);
    }

    private static final class Made<T extends Seen, V> implements Supplier<V> {
        private final LiveTable<T> live;
        private final Function<T, V> maker;
        private volatile @Nullable Value<V> value;

        private record Value<V>(int of, V made) {}

        Made(LiveTable<T> live, Function<T, V> maker) {
            this.live = live;
            this.maker = maker;
        }

        @Override
        public V get() {
            Value<V> last = value;
            return last != null && last.of == live.version.number ? last.made : renewed();
        }

        private synchronized V renewed() {
            Version<T> now = live.version;
            Value<V> last = value;
            if (last == null || last.of != now.number) {
                last = new Value<>(now.number, maker.apply(now.table));
                value = last;
            }
            return last.made;
        }
    }

    /** Runs it, and once more if it failed because the table has changed. Not for a caller's transaction. */
    public <V> V adapting(Supplier<V> work) {
        return adapting(work, () -> true);
    }

    /**
     * Runs it, and once more if it failed because the table has changed.
     *
     * @param unharmed whether that failure left everything as it was, so that the work can be repeated
     */
    public <V> V adapting(Supplier<V> work, BooleanSupplier unharmed) {
        int number = version.number;
        try {
            return work.get();
        } catch (OutboxException e) {
            if (changed.test(e) && unharmed.getAsBoolean() && (refresh() || version.number != number)) {
                return work.get();
            }
            throw e;
        }
    }

    /** Looks at the table; whether it has changed. */
    synchronized boolean refresh() {
        T before = now();
        try (BorrowedConnection borrowed = connections.autoCommitting(LONGEST_LOOK)) {
            T found = detection.detect(borrowed.connection(), before.name());
            if (found.equals(before)) {
                return false;
            }
            if (found.phase() != before.phase()) {
                LOG.info("table {} is in {} now, was in {}", found.name(), found.phase(), before.phase());
            }
            version = new Version<>(version.number + 1, found);
            return true;
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look at table " + before.name(), e);
        }
    }

    /** Starts to look at the table every so often. */
    public void watch(Duration interval) {
        if (isCanonical()) {
            return;
        }
        WeakReference<LiveTable<T>> watched = new WeakReference<>(this);
        Thread thread = new Thread(() -> watch(watched, interval), "outbox-watch-" + now().name());
        thread.setDaemon(true);
        thread.start();
    }

    private static void watch(WeakReference<? extends LiveTable<?>> watched, Duration interval) {
        do {
            LockSupport.parkNanos(interval.toNanos());
        } while (!Thread.currentThread().isInterrupted() && lookedAt(watched.get()));
    }

    /** Whether to look again. */
    private static boolean lookedAt(@Nullable LiveTable<?> live) {
        if (live == null) {
            return false;
        }
        try {
            live.refresh();
            live.failed = false;
        } catch (RuntimeException e) {
            // Said once: an outage is told of by those it troubles.
            if (!live.failed) {
                LOG.warn("cannot check whether a table has changed, will try again: {}", e.getMessage());
            }
            live.failed = true;
        }
        return !live.isCanonical();
    }
}
