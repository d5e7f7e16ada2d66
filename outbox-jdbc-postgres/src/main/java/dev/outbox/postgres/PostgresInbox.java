package dev.outbox.postgres;

import dev.outbox.Ack;
import dev.outbox.Inbox;
import dev.outbox.InboxRecord;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnConflict;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.delivery.PollerBuilder;
import dev.outbox.delivery.internal.Emitter;
import dev.outbox.internal.Require;
import dev.outbox.jdbc.internal.inbox.InboxRecords;
import dev.outbox.jdbc.internal.inbox.Redelivery;
import dev.outbox.jdbc.internal.queue.LiveTable;
import dev.outbox.jdbc.internal.queue.TableQueue;
import dev.outbox.jdbc.internal.queue.TableSettings;
import dev.outbox.jdbc.internal.sql.Connections;
import dev.outbox.jdbc.internal.sql.StorableText;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * An inbox in a PostgreSQL table, for one consumer. Building it looks at the table once and fails early and
 * clearly; after that no call reads the catalog, least of all inside a caller's transaction.
 *
 * <p>Several consumers may share a table: each gets every message once. A legacy table is for one consumer until it
 * has come to phase 3, and in phase 0 nobody can check that. Thread-safe. The data source is used for
 * the poller, for purge and for single records; receive and enqueue use the caller's own connection.
 */
public final class PostgresInbox implements Inbox {
    private final TableQueue queue;
    private final LiveTable<PostgresTable> table;
    private final Supplier<PostgresReceive> receive;
    private final Supplier<InboxRecords> records;
    private final Redelivery redelivery;

    private PostgresInbox(
            LiveTable<PostgresTable> table,
            Connections connections,
            TableSettings settings,
            Builder options,
            String consumer) {
        this.queue = PostgresQueue.over(table, connections, settings, Ack.KEEP, options);
        this.table = table;
        Emitter emitter = settings.emitter();
        OnConflict onConflict = options.onConflict;
        Duration lockTimeout = options.lockTimeout;
        this.receive = table.per(
                found -> new PostgresReceive(found, consumer, settings.rules(), onConflict, lockTimeout, emitter));
        this.records = table.per(
                found -> new InboxRecords(found.name(), connections, settings.retention(), new PostgresRecords(found)));
        this.redelivery = new Redelivery(options.maxRedelivery);
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    @Override
    public Receipt receive(Connection tx, Incoming incoming) {
        return receive.get().receive(tx, Require.present("incoming", incoming));
    }

    @Override
    public Receipt enqueue(Connection tx, Incoming incoming) {
        return enqueueAll(tx, List.of(Require.present("incoming", incoming))).get(0);
    }

    @Override
    public List<Receipt> enqueueAll(Connection tx, Collection<Incoming> incoming) {
        List<Incoming> all = new ArrayList<>(Require.present("incoming", incoming));
        all.forEach(one -> Require.present("incoming", one));
        return receive.get().enqueue(tx, all, () -> queue.stored(tx));
    }

    @Override
    public Optional<InboxRecord> get(String source, String messageId) {
        return table.adapting(() -> records.get().get(source, messageId));
    }

    @Override
    public boolean markDead(Connection tx, String source, String messageId, String reason) {
        return records.get().markDead(tx, source, messageId, reason);
    }

    @Override
    public void requeue(String source, String messageId) {
        requeue(source, messageId, false);
    }

    @Override
    public void forceRequeue(String source, String messageId) {
        requeue(source, messageId, true);
    }

    private void requeue(String source, String messageId, boolean forced) {
        table.adapting(() -> {
            records.get().requeue(source, messageId, forced);
            return true;
        });
        queue.wakeUp();
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

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if that is shorter than {@link Builder#maxRedelivery}
     */
    @Override
    public long purge(Duration olderThan) {
        redelivery.check("olderThan", Require.present("olderThan", olderThan));
        return queue.purge(olderThan);
    }

    /** Options, each with its default; {@link #consumer} is required. Not thread-safe. */
    public static final class Builder extends PostgresOptions<Builder> {
        private static final Duration DAY = Duration.ofDays(1);

        private @Nullable String consumer;
        private OnConflict onConflict = OnConflict.THROW;
        private Duration lockTimeout = Duration.ofSeconds(10);
        private Duration maxRedelivery = Duration.ofDays(7);

        private Builder(DataSource dataSource) {
            super(dataSource, "inbox", Duration.ofDays(30));
        }

        @Override
        protected Builder self() {
            return this;
        }

        /**
         * Who receives: every instance of an application gives the same name, another application another. 1 to 255
         * characters, not blank. Required. Whoever changes it receives everything anew.
         */
        public Builder consumer(String consumer) {
            StorableText.check("consumer", Require.text("consumer", consumer, Message.MAX_NAME));
            this.consumer = consumer;
            return this;
        }

        /** What becomes of another message under a known id. Default: {@link OnConflict#THROW}. */
        public Builder onConflict(OnConflict onConflict) {
            this.onConflict = Require.present("onConflict", onConflict);
            return this;
        }

        /**
         * How long receive and enqueue wait for another transaction that holds the same message, 1 ms to 1 day; then
         * they throw a retryable exception. It counts per lock: a call that stores several messages may wait so long
         * for each of them, and for each key. A shorter {@code lock_timeout} of the caller's connection wins. Default:
         * 10 s.
         */
        public Builder lockTimeout(Duration lockTimeout) {
            this.lockTimeout = Require.between("lockTimeout", lockTimeout, Duration.ofMillis(1), DAY);
            return this;
        }

        /**
         * The longest time after which a message may be sent again: the broker's retention, the longest outage, a
         * replay by hand. The {@link #retention} must not be shorter. Default: 7 days.
         */
        public Builder maxRedelivery(Duration maxRedelivery) {
            this.maxRedelivery = Require.notNegative("maxRedelivery", maxRedelivery);
            return this;
        }

        /**
         * Looks at the table.
         *
         * @throws IllegalStateException if there is no consumer
         * @throws IllegalArgumentException if options contradict each other: a retention shorter than maxRedelivery
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an inbox, or the
         *     data source of notify will never do
         */
        public PostgresInbox build() {
            String name = consumer;
            if (name == null) {
                throw new IllegalStateException("the inbox has no consumer; call consumer(...) with the name of the"
                        + " application that receives");
            }
            Redelivery redelivery = new Redelivery(maxRedelivery);
            redelivery.check("retention", retention());
            redelivery.check("deadRetention", deadRetention());
            TableSettings settings = settings();
            return open(
                    settings,
                    (connection, table) -> PostgresTable.inbox(connection, table, name),
                    (table, connections) -> new PostgresInbox(table, connections, settings, this, name));
        }
    }
}
