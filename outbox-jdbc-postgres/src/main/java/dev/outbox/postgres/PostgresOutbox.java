package dev.outbox.postgres;

import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.queue.OutboxOptions;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Opens an outbox in a PostgreSQL table. {@code build()} looks at the table once, and fails if the table is not usable.
 * After that no call reads the catalog inside a caller's transaction. During the migration of a legacy table, the
 * library looks at the table from time to time, on a connection of the data source.
 *
 * <p>The data source is used for the poller and for purge; enqueue uses the caller's own connection.
 */
public final class PostgresOutbox {
    private PostgresOutbox() {}

    /** An outbox in the table {@code outbox} with all defaults. */
    public static Outbox create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Options, each with its default. Not thread-safe. */
    public static final class Builder extends OutboxOptions<Builder> {
        private @Nullable DataSource notify;

        private Builder(DataSource dataSource) {
            super(dataSource);
        }

        /**
         * Wakes the pollers of other processes too, by {@code NOTIFY}, after each commit that wakes those of this JVM.
         * Each process sends at most one every 10 ms, after commit and on a background thread: no caller fails because
         * of it, and no commit waits for it. While a poller runs, another thread listens; there is nothing to close.
         *
         * <p>It takes up to two connections of this data source and keeps them, so it must not be the pool of the
         * application. LISTEN does not work through a pooler in transaction mode: the library notices that and logs a
         * warning, and the pollers find messages by polling. Default: off.
         *
         * @param own connects to the same database with the PostgreSQL JDBC driver, directly, for example a {@code
         *     PGSimpleDataSource}
         */
        public Builder notify(DataSource own) {
            this.notify = PostgresNotify.own(own, dataSource());
            return this;
        }

        /**
         * Looks at the table and opens the outbox.
         *
         * @throws IllegalArgumentException if options contradict each other
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an outbox,
         *     or the data source of notify cannot be used
         */
        public Outbox build() {
            return open(new PostgresStatements(notify));
        }
    }
}
