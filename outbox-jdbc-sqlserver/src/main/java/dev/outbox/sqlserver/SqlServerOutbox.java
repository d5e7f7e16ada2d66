package dev.outbox.sqlserver;

import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.queue.OutboxOptions;
import javax.sql.DataSource;

/**
 * Opens an outbox in a SQL Server table. {@code build()} looks at the table once, and fails if the table is not usable.
 * After that no call reads the catalog inside a caller's transaction. During the migration of a legacy table, the
 * library looks at the table from time to time, on a connection of the data source.
 *
 * <p>The data source is used for the poller and for purge; enqueue uses the caller's own connection.
 */
public final class SqlServerOutbox {
    private SqlServerOutbox() {}

    /** An outbox in the table {@code outbox} with all defaults. */
    public static Outbox create(DataSource dataSource) {
        return builder(dataSource).build();
    }

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Options, each with its default. Not thread-safe. */
    public static final class Builder extends OutboxOptions<Builder> {
        private Builder(DataSource dataSource) {
            super(dataSource);
        }

        /**
         * Looks at the table and opens the outbox.
         *
         * @throws IllegalArgumentException if options contradict each other
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an outbox
         */
        public Outbox build() {
            return open(new SqlServerStatements());
        }
    }
}
