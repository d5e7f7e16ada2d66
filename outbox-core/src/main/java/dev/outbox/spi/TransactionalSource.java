package dev.outbox.spi;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** A source in a database, which can settle inside a transaction together with a handler's effects. */
public interface TransactionalSource extends Source {
    /** Opens a READ COMMITTED transaction on a connection of the source's own. */
    Transaction begin();

    /** {@link #settle(List)} inside this transaction; the caller commits, or rolls back when fenced. */
    Set<Lease> settle(Connection tx, List<Settlement> settlements);

    /** An open transaction; closing it rolls back what was not committed and gives the connection back. */
    interface Transaction extends AutoCloseable {
        Connection connection();

        void commit() throws SQLException;

        @Override
        void close() throws SQLException;
    }
}
