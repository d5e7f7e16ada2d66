package dev.outbox.jdbc.internal;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Borrows the connections the library needs for itself, in the state it needs, and gives them back as they
 * were: READ COMMITTED, because a locking claim under REPEATABLE READ fails instead of skipping, and
 * auto-commit on (one statement, one round trip) or off (a handler's transaction).
 *
 * <p>Asking a driver for its isolation level can cost a round trip. So the first connection is asked once;
 * only where the pool's default is another level is it set and restored on each borrow.
 */
public final class Connections {
    private final DataSource dataSource;
    private volatile boolean setsIsolation;

    public Connections(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Looks at the pool's default isolation once, on this connection of it. */
    public void learnDefaults(Connection connection) throws SQLException {
        if (connection.getTransactionIsolation() != Connection.TRANSACTION_READ_COMMITTED) {
            setsIsolation = true;
        }
    }

    /** Sets the isolation from now on: a statement failed as it does under a stricter level. */
    public void distrustDefaults() {
        setsIsolation = true;
    }

    /** For single statements. */
    public Borrowed autoCommitting() throws SQLException {
        return new Borrowed(dataSource.getConnection(), true, setsIsolation);
    }

    /** For a transaction; closing rolls back what was not committed. */
    public Borrowed transactional() throws SQLException {
        return new Borrowed(dataSource.getConnection(), false, setsIsolation);
    }
}
