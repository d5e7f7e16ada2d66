package dev.outbox.postgres;

import dev.outbox.Inbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.queue.InboxOptions;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens an inbox in a PostgreSQL table, for one consumer. {@code build()} looks at the table once, and fails if the
 * table is not usable. After that no call reads the catalog inside a caller's transaction. During the migration of a
 * legacy table, the library looks at the table from time to time, on a connection of the data source.
 *
 * <p>Several consumers may share a table: each gets every message once. A legacy table is for one consumer until its
 * migration has reached phase 3; in phase 0 the library cannot check that. The data source is used for the poller, for
 * purge and for single records; receive and enqueue use the caller's own connection.
 */
public final class PostgresInbox {
    private PostgresInbox() {}

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Options, each with its default; {@code consumer} is required. Not thread-safe. */
    public static final class Builder extends InboxOptions<Builder> {
        private @Nullable DataSource notify;

        private Builder(DataSource dataSource) {
            super(dataSource);
        }

        /** Wakes the pollers of other processes too, as {@link PostgresOutbox.Builder#notify} does. Default: off. */
        public Builder notify(DataSource own) {
            this.notify = PostgresNotify.own(own, dataSource());
            return this;
        }

        /**
         * Looks at the table and opens the inbox.
         *
         * @throws IllegalStateException if there is no consumer
         * @throws IllegalArgumentException if options contradict each other: a retention shorter than maxRedelivery
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an inbox, or the
         *     data source of notify cannot be used
         */
        public Inbox build() {
            return open(new PostgresStatements(notify));
        }
    }
}
