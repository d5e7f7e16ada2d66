package dev.outbox.admin;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.TableKind;
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
final class AdminDatabase {
    private final Connections connections;
    private final Map<TableKind, TableName> names;
    private final Map<TableKind, AdminTable> settled = new ConcurrentHashMap<>();
    private final Map<String, Long> indexed = new ConcurrentHashMap<>();
    private volatile boolean learned;

    AdminDatabase(DataSource dataSource, Map<TableKind, TableName> names) {
        this.connections = new Connections(dataSource);
        this.names = names;
    }

    interface Work<T> {
        T in(AdminSession session) throws SQLException;
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
            AdminDialect dialect = switch (Database.of(borrowed.connection())) {
                case POSTGRES -> new PostgresDialect();
                case SQLSERVER -> new SqlServerDialect();
            };
            return work.in(new AdminSession(borrowed.connection(), dialect, names, settled, indexed, patience));
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
