package dev.outbox.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Borrows the connections the library needs for itself, in the state it needs, and gives them back as they
 * were: READ COMMITTED, because a locking claim under REPEATABLE READ fails instead of skipping, and
 * auto-commit on (one statement, one round trip) or off (a handler's transaction).
 *
 * <p>A connection that gets no answer for longer than a limit is broken and closed: see {@link NetworkLimit}. The limit is
 * for what the library does with it; what a handler does in its transaction has none.
 *
 * <p>Asking a driver for its isolation level can cost a round trip. So the first connection is asked once;
 * only where the pool's default is another level is it set and restored on each borrow.
 */
public final class Connections {
    private static final Duration UNLIMITED = Duration.ZERO;

    private final DataSource dataSource;
    private volatile boolean setsIsolation;
    private volatile int usual = Connection.TRANSACTION_READ_COMMITTED;

    public Connections(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Looks at the pool's default isolation once, on this connection of it. */
    public void learnDefaults(Connection connection) throws SQLException {
        usual = connection.getTransactionIsolation();
        if (usual != Connection.TRANSACTION_READ_COMMITTED) {
            setsIsolation = true;
        }
    }

    /** The pool's default isolation, if it is another one than the READ COMMITTED that is set here. */
    public Optional<String> replacedIsolation() {
        return switch (usual) {
            case Connection.TRANSACTION_READ_COMMITTED -> Optional.empty();
            case Connection.TRANSACTION_READ_UNCOMMITTED -> Optional.of("READ UNCOMMITTED");
            case Connection.TRANSACTION_REPEATABLE_READ -> Optional.of("REPEATABLE READ");
            case Connection.TRANSACTION_SERIALIZABLE -> Optional.of("SERIALIZABLE");
            default -> Optional.of("level " + usual); // SQL Server's SNAPSHOT is one of its own
        };
    }

    /** Sets the isolation from now on: a statement failed as it does under a stricter level. */
    public void distrustDefaults() {
        setsIsolation = true;
    }

    /** For single statements, on behalf of an operator or a caller, who may wait for as long as they like. */
    public BorrowedConnection autoCommitting() throws SQLException {
        return autoCommitting(UNLIMITED);
    }

    /** For single statements. */
    public BorrowedConnection autoCommitting(Duration limit) throws SQLException {
        return new BorrowedConnection(dataSource.getConnection(), true, setsIsolation, limit);
    }

    /** For a transaction; closing rolls back what was not committed. */
    public BorrowedConnection transactional(Duration limit) throws SQLException {
        return new BorrowedConnection(dataSource.getConnection(), false, setsIsolation, limit);
    }
}
