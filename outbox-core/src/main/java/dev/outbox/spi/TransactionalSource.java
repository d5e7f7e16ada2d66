package dev.outbox.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A source in a database that can settle in the same transaction as a handler's effects. */
public interface TransactionalSource extends Source {
    /**
     * Opens a READ COMMITTED transaction on a connection of the source's own, whatever the default of its pool. At a
     * stricter level, a renewal of the lease during the transaction, which may come at any time, would make the settle
     * fail.
     */
    Transaction begin();

    /**
     * The default isolation of the source's connections, if it is not READ COMMITTED: then a poller warns at its start that its
     * handlers run at another level. Default: empty.
     */
    default Optional<String> replacedIsolation() {
        return Optional.empty();
    }

    /**
     * {@link #settle(List)} inside this transaction, as its last statement: the caller then commits, or rolls back when
     * fenced. It may change settings of the database session until the end of the transaction. If another transaction
     * has locked a row, it waits for a part of the lease at most, and then throws.
     *
     * @return the leases that were fenced
     */
    Set<Lease> settle(Connection tx, List<Settlement> settlements);

    /** An open transaction; closing it rolls back what was not committed and gives the connection back. */
    interface Transaction extends AutoCloseable {
        Connection connection();

        void commit() throws SQLException;

        @Override
        void close() throws SQLException;
    }
}
