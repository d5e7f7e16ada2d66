package dev.outbox.sqlserver;

import dev.outbox.Ack;
import dev.outbox.Enqueued;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Stage;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.internal.CollectingStage;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.queue.TableQueue;
import dev.outbox.jdbc.internal.queue.TableSettings;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import javax.sql.DataSource;

/**
 * An outbox in a SQL Server table. Building it looks at the table once and fails early and clearly; after
 * that no call reads the catalog inside a caller's transaction. While the table is on its way from a legacy layout
 * it is looked at from time to time, on a connection of the data source.
 *
 * <p>Thread-safe. The data source is used for the poller and for purge; enqueue uses the caller's own
 * connection.
 */
public final class SqlServerOutbox implements Outbox {
    private final TableQueue queue;
    private final LiveTable<SqlServerTable> table;
    private final Supplier<SqlServerEnqueue> enqueue;

    private SqlServerOutbox(
            LiveTable<SqlServerTable> table, Connections connections, TableSettings settings, Builder options) {
        this.queue = SqlServerQueue.over(table, connections, settings, options.ack);
        this.table = table;
        Emitter emitter = settings.emitter();
        this.enqueue = table.per(found -> new SqlServerEnqueue(found, settings.rules(), emitter));
    }

    /** An outbox in the table {@code outbox} with all defaults. */
    public static SqlServerOutbox create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    @Override
    public Enqueued enqueue(Connection tx, Message message) {
        return all(tx, List.of(Require.present("message", message)));
    }

    @Override
    public Enqueued enqueueAll(Connection tx, Collection<Message> messages) {
        return all(tx, new ArrayList<>(Require.present("messages", messages)));
    }

    private Enqueued all(Connection tx, List<Message> messages) {
        return wakingAfter(
                tx, table.adapting(() -> enqueue.get().all(tx, messages), () -> SqlServerChange.isUnharmed(tx)));
    }

    @Override
    public Stage stage() {
        return new CollectingStage(this, message -> enqueue.get().prepare(message));
    }

    private Enqueued wakingAfter(Connection tx, Enqueued enqueued) {
        if (!enqueued.stored().isEmpty()) {
            queue.stored(tx);
        }
        return enqueued;
    }

    @Override
    public PollerBuilder poller() {
        return queue.poller();
    }

    @Override
    public DataSource waking(DataSource dataSource) {
        return TableQueue.waking(dataSource);
    }

    @Override
    public void wakeUp() {
        queue.wakeUp();
    }

    @Override
    public TransactionalSource source() {
        return queue.source();
    }

    @Override
    public long purge(Duration olderThan) {
        return queue.purge(olderThan);
    }

    /** Options, each with its default. Not thread-safe. */
    public static final class Builder extends SqlServerOptions<Builder> {
        private Ack ack = Ack.KEEP;

        private Builder(DataSource dataSource) {
            super(dataSource, "outbox", Duration.ofDays(7));
        }

        @Override
        protected Builder self() {
            return this;
        }

        /** What becomes of delivered rows. Default: {@link Ack#KEEP}. */
        public Builder ack(Ack ack) {
            this.ack = Require.present("ack", ack);
            return this;
        }

        /**
         * Looks at the table.
         *
         * @throws IllegalArgumentException if options contradict each other
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an outbox
         */
        public SqlServerOutbox build() {
            TableSettings settings = settings();
            return open(
                    settings,
                    SqlServerTable::detect,
                    (table, connections) -> new SqlServerOutbox(table, connections, settings, this));
        }
    }
}
