package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Ordering;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Poller;
import dev.outbox.PollerBuilder;
import dev.outbox.event.OutboxListener;
import dev.outbox.internal.Emitter;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.DatabaseErrors;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.LongSupplier;
import javax.sql.DataSource;

/**
 * An outbox in a PostgreSQL table. Building it looks at the table once and fails early and clearly; after
 * that no call reads the catalog, least of all inside a caller's transaction.
 *
 * <p>Thread-safe. The data source is used for the poller and for purge; enqueue uses the caller's own
 * connection.
 */
public final class PostgresOutbox implements Outbox {
    private static final Duration MAX_RETENTION = Duration.ofDays(36_500);

    private final Connections connections;
    private final PostgresTable table;
    private final PostgresEnqueue enqueue;
    private final Builder options;

    private PostgresOutbox(Builder options, Connections connections, PostgresTable table) {
        this.options = options;
        this.connections = connections;
        this.table = table;
        this.enqueue = new PostgresEnqueue(table, options.ordering, options.maxPayload, new Emitter(options.listeners));
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
        return enqueue.one(tx, message);
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return enqueue.all(tx, new ArrayList<>(Require.present("messages", messages)));
    }

    @Override
    public PollerBuilder poller() {
        PollerBuilder poller = Poller.from(source()).ticker(options.ticker);
        options.listeners.forEach(poller::listener);
        return poller;
    }

    @Override
    public TransactionalSource source() {
        return new PostgresSource(table, connections, options.ack, options.retention, options.ticker);
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
        private int maxPayload = 1 << 20;
        private final List<OutboxListener> listeners = new ArrayList<>();
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

        /** The largest payload in bytes (text counted in UTF-8), 1 byte to 512 MiB. Default: 1 MiB. */
        public Builder maxPayload(int bytes) {
            this.maxPayload = Require.between("maxPayload", bytes, 1, 512 << 20);
            return this;
        }

        /** Adds somebody who is told of every event of this outbox and its pollers. Default: nobody. */
        public Builder listener(OutboxListener listener) {
            listeners.add(Require.present("listener", listener));
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
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an outbox
         */
        public PostgresOutbox build() {
            Connections connections = new Connections(dataSource);
            try (Connection connection = dataSource.getConnection()) {
                PostgresTable table = PostgresTable.detect(connection, name);
                connections.learnDefaults(connection);
                return new PostgresOutbox(this, connections, table);
            } catch (SQLException e) {
                throw DatabaseErrors.of("cannot look at table " + name, e);
            }
        }
    }
}
