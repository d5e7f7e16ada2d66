package dev.outbox.admin;

import dev.outbox.admin.internal.AdminDialect;
import dev.outbox.admin.internal.AdminSession;
import dev.outbox.admin.internal.AdminTable;
import dev.outbox.admin.internal.postgres.PostgresDialect;
import dev.outbox.admin.internal.sqlserver.SqlServerDialect;
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

/** The database with the tables: runs each call of an operator in a session of its own. Thread-safe. */
final class AdminDatabase {
    private final Connections connections;
    private final Map<TableKind, TableName> names;
    private final Map<TableKind, AdminTable> known = new ConcurrentHashMap<>();
    private volatile boolean learned;

    AdminDatabase(DataSource dataSource, Map<TableKind, TableName> names) {
        this.connections = new Connections(dataSource);
        this.names = names;
    }

    interface Work<T> {
        T in(AdminSession session, AdminTables tables) throws SQLException;
    }

    /** @param what as in {@code cannot <what>} */
    <T> T run(String what, Work<T> work) {
        return run(what, Optional.empty(), work);
    }

    /** @param timeout how long each statement may take */
    <T> T run(String what, Duration timeout, Work<T> work) {
        return run(what, Optional.of(timeout), work);
    }

    private <T> T run(String what, Optional<Duration> timeout, Work<T> work) {
        try (BorrowedConnection borrowed = borrow()) {
            AdminDialect dialect = switch (Database.of(borrowed.connection())) {
                case POSTGRES -> new PostgresDialect();
                case SQLSERVER -> new SqlServerDialect();
            };
            AdminSession session = new AdminSession(borrowed.connection(), dialect, timeout);
            return work.in(session, new AdminTables(session, names, known));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot " + what, e);
        }
    }

    /** The isolation level of the pool is asked for once, because an action must not fail for it. */
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
