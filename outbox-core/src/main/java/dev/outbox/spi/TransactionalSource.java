package dev.outbox.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A source in a database, which can settle inside a transaction together with a handler's effects. */
public interface TransactionalSource extends Source {
    /**
     * Opens a READ COMMITTED transaction on a connection of the source's own, whatever the default of its pool. A renewal of
     * the lease, which may come at any time, would make the settle of a stricter one fail.
     */
    Transaction begin();

    /**
     * The default isolation of the source's connections where it is not READ COMMITTED, for a poller to warn that its handlers
     * run at another level. Default: none.
     */
    default Optional<String> replacedIsolation() {
        return Optional.empty();
    }

    /**
     * {@link #settle(List)} inside this transaction, as its last statement: the caller then commits, or rolls back when
     * fenced. It may change settings that last until the end of the transaction. It may wait for a row that another
     * transaction has locked, for a part of the lease; then it throws.
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
