package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.PayloadSerializer;
import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
import dev.outbox.Stage;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Emitter;
import dev.outbox.internal.LocalWakeUp;
import dev.outbox.internal.Require;
import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.AfterCommit;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.jdbc.internal.WakingDataSource;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * An outbox in a PostgreSQL table. Building it looks at the table once and fails early and clearly; after
 * that no call reads the catalog, least of all inside a caller's transaction.
 *
 * <p>Thread-safe. The data source is used for the poller and for purge; enqueue uses the caller's own
 * connection.
 */
public final class PostgresOutbox implements Outbox {
    private static final Duration MAX_RETENTION = Duration.ofDays(36_500);
    private static final int WARN_PAYLOAD = 256 << 10;

    private final Connections connections;
    private final PostgresTable table;
    private final PostgresEnqueue enqueue;
    private final Builder options;
    private final LocalWakeUp wakeUp = new LocalWakeUp();
    private final @Nullable PostgresNotify notify;

    /** One object, so that many enqueues of a transaction wake once. */
    private final Runnable wakeAll = this::wakeUp;

    private PostgresOutbox(Builder options, Connections connections, PostgresTable table) {
        this.options = options;
        this.connections = connections;
        this.table = table;
        MessageRow.Rules rules = new MessageRow.Rules(
                options.ordering, options.serializer, options.maxPayload, options.effectiveWarnPayload());
        this.enqueue = new PostgresEnqueue(table, rules, new Emitter(options.listeners));
        this.notify = options.notify == null
                ? null
                : new PostgresNotify(options.notify, table.channel(), !options.wakesLocally, NotifyTimes.STANDARD);
    }

    /** An outbox in the table {@code outbox} with all defaults. */
    public static PostgresOutbox create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return wakingAfter(tx, enqueue.one(tx, message));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return wakingAfter(tx, enqueue.all(tx, new ArrayList<>(Require.present("messages", messages))));
    }

    @Override
    public Stage stage() {
        return Stage.over(this, enqueue::prepare);
    }

    private Enqueued wakingAfter(Connection tx, Enqueued enqueued) {
        try {
            if (!enqueued.stored().isEmpty()) {
                AfterCommit.on(tx, wakeAll);
            }
        } catch (SQLException e) {
            throw SqlFailure.of("enqueue into " + table.name() + " failed", e);
        }
        return enqueued;
    }

    @Override
    public PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source()).ticker(options.ticker).wakeUp(wakeUp);
        if (notify != null) {
            poller.wakeUp(notify);
        }
        options.listeners.forEach(poller::listener);
        return poller;
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return WakingDataSource.around(Require.present("dataSource", dataSource));
    }

    @Override
    public void wakeUp() {
        if (options.wakesLocally) {
            wakeUp.ring();
        }
        if (notify != null) {
            notify.send();
        }
    }

    @Override
    public TransactionalSource source() {
        return new PostgresSource(
                table, connections, options.ack, options.retention, options.serializer, options.ticker);
    }

    @Override
    public long purge(Duration olderThan) {
        Require.notNegative("olderThan", olderThan);
        PostgresPurge purge = new PostgresPurge(table, connections, olderThan);
        long removed = 0;
        int batch;
        do {
            batch = purge.batch();
            removed += batch;
        } while (batch > 0);
        return removed;
    }

    /** Options, each with its default. Not thread-safe. */
    public static final class Builder {
        private final DataSource dataSource;
        private TableName name = new TableName(null, "outbox");
        private Ack ack = Ack.KEEP;
        private Ordering ordering = Ordering.STRICT;
        private Duration retention = Duration.ofDays(7);
        private @Nullable PayloadSerializer serializer;
        private int maxPayload = 1 << 20;
        private @Nullable Integer warnPayload;
        private final List<OutboxListener> listeners = new ArrayList<>();
        private boolean wakesLocally = true;
        private @Nullable DataSource notify;
        private LongSupplier ticker = System::nanoTime;

        private Builder(DataSource dataSource) {
            this.dataSource = Require.present("dataSource", dataSource);
        }

        /**
         * {@code name} or {@code schema.name}; quoted, so case counts. Default: {@code outbox}. A name without
         * a schema is looked up in the search path once, when the outbox is built.
         */
        public Builder table(String table) {
            this.name = TableName.parse(table);
            return this;
        }

        /** What becomes of delivered rows. Default: {@link Ack#KEEP}. */
        public Builder ack(Ack ack) {
            this.ack = Require.present("ack", ack);
            return this;
        }

        /** How far the order of keyed messages is guarded. Default: {@link Ordering#STRICT}. */
        public Builder ordering(Ordering ordering) {
            this.ordering = Require.present("ordering", ordering);
            return this;
        }

        /** How long Done rows are kept before a poller purges them; zero to 100 years. Default: 7 days. */
        public Builder retention(Duration retention) {
            this.retention = Require.between("retention", retention, Duration.ZERO, MAX_RETENTION);
            return this;
        }

        /** Encodes and decodes the bodies of messages. Default: none, so that a message with a body is refused. */
        public Builder serializer(PayloadSerializer serializer) {
            this.serializer = Require.present("serializer", serializer);
            return this;
        }

        /**
         * The largest payload in bytes (text counted in UTF-8), 1 byte to 512 MiB; a message with a larger one is
         * refused. Default: 1 MiB.
         */
        public Builder maxPayload(int bytes) {
            this.maxPayload = Require.between("maxPayload", bytes, 1, 512 << 20);
            return this;
        }

        /**
         * Storing a larger payload than this logs a warning with topic and size, 1 byte to {@code maxPayload}.
         * Default: 256 KiB, or {@code maxPayload} where that is less.
         */
        public Builder warnPayload(int bytes) {
            this.warnPayload = Require.between("warnPayload", bytes, 1, 512 << 20);
            return this;
        }

        private int effectiveWarnPayload() {
            return warnPayload == null ? Math.min(WARN_PAYLOAD, maxPayload) : warnPayload;
        }

        /** Adds somebody who is told of every event of this outbox and its pollers. Default: nobody. */
        public Builder listener(OutboxListener listener) {
            listeners.add(Require.present("listener", listener));
            return this;
        }

        /** Whether a commit wakes the pollers of this JVM at once, where it is known. Default: true. */
        public Builder wakesLocally(boolean wakesLocally) {
            this.wakesLocally = wakesLocally;
            return this;
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
        public Builder notify(DataSource own) {
            this.notify = Require.present("notify", own);
            if (own == dataSource) {
                throw new IllegalArgumentException("notify needs a DataSource of its own, was that of the outbox: it"
                        + " keeps connections, which a pool would miss; give it one that connects directly");
            }
            return this;
        }

        /** A monotonic clock in nanoseconds for timers, for tests. Default: {@link System#nanoTime}. */
        public Builder ticker(LongSupplier ticker) {
            this.ticker = Require.present("ticker", ticker);
            return this;
        }

        /**
         * Looks at the table.
         *
         * @throws IllegalArgumentException if options contradict each other
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an outbox,
         *     or the data source of notify will never do
         */
        public PostgresOutbox build() {
            if (effectiveWarnPayload() > maxPayload) {
                throw new IllegalArgumentException(
                        "warnPayload must be at most maxPayload, " + maxPayload + ", was " + effectiveWarnPayload());
            }
            if (notify != null) {
                NotifyConnection.check(notify);
            }
            Connections connections = new Connections(dataSource);
            try (Connection connection = dataSource.getConnection()) {
                PostgresTable table = PostgresTable.detect(connection, name);
                connections.learnDefaults(connection);
                return new PostgresOutbox(this, connections, table);
            } catch (SQLException e) {
                throw SqlFailure.of("cannot look at table " + name, e);
            }
        }
    }
}
