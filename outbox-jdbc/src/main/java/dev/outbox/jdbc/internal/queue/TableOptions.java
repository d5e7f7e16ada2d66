package dev.outbox.jdbc.internal.queue;

import dev.outbox.Ack;
import dev.outbox.Ordering;
import dev.outbox.PayloadSerializer;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.enqueue.MessageRow;
import dev.outbox.jdbc.internal.inbox.Redelivery;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Options of an outbox or inbox in a table, each with its default. A user sees them as methods of the database's own builder.
 * Not thread-safe.
 *
 * @param <B> that builder
 * @hidden
 */
@SuppressWarnings("InvalidBlockTag") // Javadoc knows @hidden on types, Error Prone does not
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

    TableOptions(DataSource dataSource, String table, Duration retention) {
        this.dataSource = Require.present("dataSource", dataSource);
        this.name = new TableName(null, table);
        this.retention = retention;
    }

    /** This builder. */
    @SuppressWarnings("unchecked") // B is the class that extends this one
    final B self() {
        return (B) this;
    }

    /**
     * The table, as {@code name} or {@code schema.name}; it is quoted, and so case-sensitive. A name without a schema is
     * looked up once, by {@code build()}. Default: {@code outbox}; for an inbox {@code inbox}.
     */
    public B table(String table) {
        this.name = TableName.parse(table);
        return self();
    }

    /** How strictly enqueue keeps the order of messages with a key. Default: {@link Ordering#STRICT}. */
    public B ordering(Ordering ordering) {
        this.ordering = Require.present("ordering", ordering);
        return self();
    }

    /**
     * How long Done rows are kept before a poller purges them; zero to 100 years. Default: 7 days; for an inbox 30 days.
     */
    public B retention(Duration retention) {
        this.retention = Require.between("retention", retention, Duration.ZERO, MAX_RETENTION);
        return self();
    }

    /**
     * How long Dead rows are kept before a poller purges them, zero to 100 years; one that blocks its key is kept for as
     * long as it blocks the key. Default: forever, because an operator has to look at them.
     */
    public B deadRetention(Duration deadRetention) {
        this.deadRetention = Require.between("deadRetention", deadRetention, Duration.ZERO, MAX_RETENTION);
        return self();
    }

    /** Encodes and decodes the bodies of messages. Default: none; then a message with a body is refused. */
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

    /** Adds a listener, which receives every event of this table and its pollers. Default: none. */
    public B listener(OutboxListener listener) {
        listeners.add(Require.present("listener", listener));
        return self();
    }

    /** Whether a commit that the library notices wakes the pollers of this JVM at once. Default: true. */
    public B wakesLocally(boolean wakesLocally) {
        this.wakesLocally = wakesLocally;
        return self();
    }

    /**
     * How often the library looks at a table that is not canonical yet, so that it notices a migration without a
     * restart; 10 ms to 1 minute. A migration waits for twice the default before it removes what the previous phase
     * needs. If you set a longer interval, set it in the migration too. The library does not look at a canonical table
     * again. Default: {@link Phase#REFRESH_INTERVAL}, 5 s.
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

    /**
     * The data source of the table.
     *
     * @hidden
     */
    protected final DataSource dataSource() {
        return dataSource;
    }

    /** Refuses to forget a message that may still come again. */
    final void checkRetention(Redelivery redelivery) {
        redelivery.check("retention", retention);
        redelivery.check("deadRetention", deadRetention);
    }

    /** Checks what the options say together. */
    final TableSettings settings(Ack ack) {
        return new TableSettings(
                dataSource,
                name,
                ordering,
                new MessageRow.Rules(serializer, maxPayload, checkedWarnPayload()),
                ack,
                retention,
                deadRetention,
                List.copyOf(listeners),
                wakesLocally,
                ticker,
                refreshInterval);
    }

    private int checkedWarnPayload() {
        int warn = warnPayload == null ? Math.min(WARN_PAYLOAD, maxPayload) : warnPayload;
        if (warn > maxPayload) {
            throw new IllegalArgumentException(
                    "warnPayload must be at most maxPayload, " + maxPayload + ", was " + warn);
        }
        return warn;
    }
}
