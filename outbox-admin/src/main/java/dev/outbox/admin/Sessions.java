package dev.outbox.admin;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.sql.BorrowedConnection;
import dev.outbox.jdbc.internal.sql.Connections;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Opens a session per call. Thread-safe. */
final class Sessions {
    private final Connections connections;
    private final Map<Box, TableName> names;
    private final Map<Box, AdminTable> settled = new ConcurrentHashMap<>();
    private final Map<String, Long> indexed = new ConcurrentHashMap<>();
    private volatile boolean learned;

    Sessions(DataSource dataSource, Map<Box, TableName> names) {
        this.connections = new Connections(dataSource);
        this.names = names;
    }

    interface Work<T> {
        T in(Session session) throws SQLException;
    }

    /** @param what as in {@code cannot <what>} */
    <T> T run(String what, Work<T> work) {
        return run(what, Optional.empty(), work);
    }

    /** @param patience how long each statement may take */
    <T> T run(String what, Duration patience, Work<T> work) {
        return run(what, Optional.of(patience), work);
    }

    private <T> T run(String what, Optional<Duration> patience, Work<T> work) {
        try (BorrowedConnection borrowed = borrow()) {
            Flavor flavor = switch (Database.of(borrowed.connection())) {
                case POSTGRES -> new PostgresFlavor();
                case SQLSERVER -> new SqlServerFlavor();
            };
            return work.in(new Session(borrowed.connection(), flavor, names, settled, indexed, patience));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot " + what, e);
        }
    }

    /** The pool's isolation is looked at once: an action must not fail for it. */
    private BorrowedConnection borrow() throws SQLException {
        if (!learned) {
            try (BorrowedConnection first = connections.autoCommitting()) {
                connections.learnDefaults(first.connection());
            }
            learned = true;
        }
        return connections.autoCommitting();
    }
}
