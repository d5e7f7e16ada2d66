package dev.outbox.postgres;

import dev.outbox.Ordering;
import dev.outbox.PayloadSerializer;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Emitter;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.Phase;
import dev.outbox.jdbc.internal.TableName;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Options that an outbox and an inbox share, each with its default. Not thread-safe.
 *
 * @param <B> the builder they belong to
 */
public abstract sealed class PostgresOptions<B extends PostgresOptions<B>>
        permits PostgresOutbox.Builder, PostgresInbox.Builder {
    /** How often a table that is not canonical yet is looked at by default. */
    public static final Duration REFRESH_INTERVAL = Phase.REFRESH_INTERVAL;

    private static final Duration MAX_RETENTION = Duration.ofDays(36_500);
    private static final int WARN_PAYLOAD = 256 << 10;

    private final DataSource dataSource;
    private final List<OutboxListener> listeners = new ArrayList<>();
    private TableName name;
    private Ordering ordering = Ordering.STRICT;
    private Duration retention;
    private @Nullable PayloadSerializer serializer;
    private int maxPayload = 1 << 20;
    private @Nullable Integer warnPayload;
    private boolean wakesLocally = true;
    private @Nullable DataSource notify;
    private LongSupplier ticker = System::nanoTime;
    private Duration refreshInterval = REFRESH_INTERVAL;

    PostgresOptions(DataSource dataSource, String table, Duration retention) {
        this.dataSource = Require.present("dataSource", dataSource);
        this.name = new TableName(null, table);
        this.retention = retention;
    }

    abstract B self();

    /**
     * {@code name} or {@code schema.name}; quoted, so case counts. Default: {@code outbox}, or {@code inbox} for
     * an inbox. A name without a schema is looked up in the search path once, when it is built.
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

    private int effectiveWarnPayload() {
        return warnPayload == null ? Math.min(WARN_PAYLOAD, maxPayload) : warnPayload;
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
     * Wakes the pollers of other processes too, by {@code NOTIFY}, wherever a commit is known to wake those of
     * this JVM. Each process sends at most one every 10 ms, after commit and on a background thread: it
     * fails nobody and delays no commit. While a poller runs, another thread listens; nothing needs
     * closing.
     *
     * <p>It takes up to two connections of this data source and keeps them, so it must not be the pool of the
     * application. LISTEN does not work through a pooler in transaction mode: that is noticed and warned
     * of, and pollers find by polling. Default: off.
     *
     * @param own connects to the same database with the PostgreSQL JDBC driver, directly; a
     *     {@code PGSimpleDataSource} is good
     */
    public B notify(DataSource own) {
        this.notify = Require.present("notify", own);
        if (own == dataSource) {
            throw new IllegalArgumentException("notify needs a DataSource of its own, was that of the table itself: it"
                    + " keeps connections, which a pool would miss; give it one that connects directly");
        }
        return self();
    }

    /**
     * How often a table that is not canonical yet is looked at, so that a migration is noticed without a restart; 10 ms
     * to 1 minute. A migration waits for twice the default before it takes away what the phase before needs, so who
     * sets more has to tell it. A canonical table is not looked at again. Default: {@link #REFRESH_INTERVAL}, 5 s.
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

    MessageRow.Rules rules() {
        return new MessageRow.Rules(ordering, serializer, maxPayload, effectiveWarnPayload());
    }

    Emitter emitter() {
        return new Emitter(listeners);
    }

    List<OutboxListener> listeners() {
        return List.copyOf(listeners);
    }

    Duration retention() {
        return retention;
    }

    @Nullable
    PayloadSerializer serializer() {
        return serializer;
    }

    boolean wakesLocally() {
        return wakesLocally;
    }

    @Nullable
    DataSource notifying() {
        return notify;
    }

    LongSupplier ticker() {
        return ticker;
    }

    /** What is made of it. */
    interface Construction<T> {
        T over(LiveTable table, Connections connections);
    }

    /** Checks what the options say together, and looks at the table. */
    <T> T build(LiveTable.Detection detection, Construction<T> construction) {
        if (effectiveWarnPayload() > maxPayload) {
            throw new IllegalArgumentException(
                    "warnPayload must be at most maxPayload, " + maxPayload + ", was " + effectiveWarnPayload());
        }
        if (notify != null) {
            NotifyConnection.check(notify);
        }
        Connections connections = new Connections(dataSource);
        try (Connection connection = dataSource.getConnection()) {
            LiveTable table = new LiveTable(connections, detection, detection.detect(connection, name));
            connections.learnDefaults(connection);
            T built = construction.over(table, connections);
            table.watch(refreshInterval);
            return built;
        } catch (SQLException e) {
            throw SqlFailure.of("cannot look at table " + name, e);
        }
    }
}
