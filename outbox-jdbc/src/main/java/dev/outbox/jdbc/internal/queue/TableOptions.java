package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ordering;
import dev.outbox.PayloadSerializer;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Options that every outbox and inbox in a database has, each with its default. Not for extension outside of the
 * database modules. Not thread-safe.
 *
 * @param <B> the builder they belong to
 */
public abstract class TableOptions<B extends TableOptions<B>> {
    private static final Duration MAX_RETENTION = Duration.ofDays(36_500);
    private static final int WARN_PAYLOAD = 256 << 10;

    private final DataSource dataSource;
    private final List<OutboxListener> listeners = new ArrayList<>();
    private TableName name;
    private Ordering ordering = Ordering.STRICT;
    private Duration retention;
    private @Nullable Duration deadRetention;
    private @Nullable PayloadSerializer serializer;
    private int maxPayload = 1 << 20;
    private @Nullable Integer warnPayload;
    private boolean wakesLocally = true;
    private LongSupplier ticker = System::nanoTime;
    private Duration refreshInterval = Phase.REFRESH_INTERVAL;

    protected TableOptions(DataSource dataSource, String table, Duration retention) {
        this.dataSource = Require.present("dataSource", dataSource);
        this.name = new TableName(null, table);
        this.retention = retention;
    }

    /** This builder. */
    protected abstract B self();

    /**
     * {@code name} or {@code schema.name}; quoted, so case counts. Default: {@code outbox}, or {@code inbox} for
     * an inbox. A name without a schema is looked up once, when it is built.
     */
    public B table(String table) {
        this.name = TableName.parse(table);
        return self();
    }

    /** How far the order of keyed messages is guarded. Default: {@link Ordering#STRICT}. */
    public B ordering(Ordering ordering) {
        this.ordering = Require.present("ordering", ordering);
        return self();
    }

    /**
     * How long Done rows are kept before a poller purges them; zero to 100 years. Default: 7 days, of an inbox 30
     * days.
     */
    public B retention(Duration retention) {
        this.retention = Require.between("retention", retention, Duration.ZERO, MAX_RETENTION);
        return self();
    }

    /**
     * How long Dead rows are kept before a poller purges them, zero to 100 years; one that blocks its key stays for as
     * long as it does. Default: for ever, because somebody has to look at them.
     */
    public B deadRetention(Duration deadRetention) {
        this.deadRetention = Require.between("deadRetention", deadRetention, Duration.ZERO, MAX_RETENTION);
        return self();
    }

    /** Encodes and decodes the bodies of messages. Default: none, so that a message with a body is refused. */
    public B serializer(PayloadSerializer serializer) {
        this.serializer = Require.present("serializer", serializer);
        return self();
    }

    /**
     * The largest payload in bytes (text counted in UTF-8), 1 byte to 512 MiB; a message with a larger one is
     * refused. Default: 1 MiB.
     */
    public B maxPayload(int bytes) {
        this.maxPayload = Require.between("maxPayload", bytes, 1, 512 << 20);
        return self();
    }

    /**
     * Storing a larger payload than this logs a warning with topic and size, 1 byte to {@code maxPayload}.
     * Default: 256 KiB, or {@code maxPayload} where that is less.
     */
    public B warnPayload(int bytes) {
        this.warnPayload = Require.between("warnPayload", bytes, 1, 512 << 20);
        return self();
    }

    /** Adds somebody who is told of every event of this table and its pollers. Default: nobody. */
    public B listener(OutboxListener listener) {
        listeners.add(Require.present("listener", listener));
        return self();
    }

    /** Whether a commit wakes the pollers of this JVM at once, where it is known. Default: true. */
    public B wakesLocally(boolean wakesLocally) {
        this.wakesLocally = wakesLocally;
        return self();
    }

    /**
     * How often a table that is not canonical yet is looked at, so that a migration is noticed without a restart; 10 ms
     * to 1 minute. A migration waits for twice the default before it takes away what the phase before needs, so who
     * sets more has to tell it. A canonical table is not looked at again. Default: {@link Phase#REFRESH_INTERVAL}, 5 s.
     */
    public B refreshInterval(Duration refreshInterval) {
        this.refreshInterval =
                Require.between("refreshInterval", refreshInterval, Duration.ofMillis(10), Duration.ofMinutes(1));
        return self();
    }

    /** A monotonic clock in nanoseconds for timers, for tests. Default: {@link System#nanoTime}. */
    public B ticker(LongSupplier ticker) {
        this.ticker = Require.present("ticker", ticker);
        return self();
    }

    /** As the builder has it now. */
    protected final DataSource dataSource() {
        return dataSource;
    }

    /** As the builder has it now. */
    protected final String table() {
        return name.toString();
    }

    /** As the builder has it now. */
    protected final Ordering ordering() {
        return ordering;
    }

    /** As the builder has it now. */
    protected final Duration retention() {
        return retention;
    }

    /** As the builder has it now; null means for ever. */
    protected final @Nullable Duration deadRetention() {
        return deadRetention;
    }

    /** As the builder has it now. */
    protected final @Nullable PayloadSerializer serializer() {
        return serializer;
    }

    /** As the builder has it now. */
    protected final int maxPayload() {
        return maxPayload;
    }

    /** As the builder has it now, and found to fit {@link #maxPayload(int)}. */
    protected final int warnPayload() {
        int warn = warnPayload == null ? Math.min(WARN_PAYLOAD, maxPayload) : warnPayload;
        if (warn > maxPayload) {
            throw new IllegalArgumentException(
                    "warnPayload must be at most maxPayload, " + maxPayload + ", was " + warn);
        }
        return warn;
    }

    /** As the builder has them now. */
    protected final List<OutboxListener> listeners() {
        return List.copyOf(listeners);
    }

    /** As the builder has it now. */
    protected final boolean wakesLocally() {
        return wakesLocally;
    }

    /** As the builder has it now. */
    protected final LongSupplier ticker() {
        return ticker;
    }

    /** As the builder has it now. */
    protected final Duration refreshInterval() {
        return refreshInterval;
    }
}
