package dev.outbox.sqlserver;

import dev.outbox.Inbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.internal.queue.InboxOptions;
import javax.sql.DataSource;

/**
 * Opens an inbox in a SQL Server table, for one consumer. {@code build()} looks at the table once, and fails if the
 * table is not usable. After that no call reads the catalog inside a caller's transaction. During the migration of a
 * legacy table, the library looks at the table from time to time, on a connection of the data source.
 *
 * <p>Several consumers may share a table: each gets every message once. The data source is used for the poller, for purge and
 * for single records; receive and enqueue use the caller's own connection.
 */
public final class SqlServerInbox {
    private SqlServerInbox() {}

    public static Builder builder(DataSource dataSource) {
        return new Builder(dataSource);
    }

    /** Options, each with its default; {@code consumer} is required. Not thread-safe. */
    public static final class Builder extends InboxOptions<Builder> {
        private Builder(DataSource dataSource) {
            super(dataSource);
        }

        /**
         * The name of the application that receives: all its instances use the same name, other applications use other
         * names. 1 to 255 characters, not blank, no space at the end. Required. An application that changes its name
         * receives all messages again.
         */
        @Override
        public Builder consumer(String consumer) {
            if (consumer != null && !consumer.isBlank() && consumer.endsWith(" ")) {
                throw new IllegalArgumentException(
                        "consumer must not end with a space, which SQL Server ignores in comparisons, was \"" + consumer
                                + "\"");
            }
            return super.consumer(consumer);
        }

        /**
         * Looks at the table and opens the inbox.
         *
         * @throws IllegalStateException if there is no consumer
         * @throws IllegalArgumentException if options contradict each other: a retention shorter than maxRedelivery
         * @throws OutboxException if the database cannot be reached, or the table is missing or not an inbox
         */
        public Inbox build() {
            return open(new SqlServerStatements());
        }
    }
}
