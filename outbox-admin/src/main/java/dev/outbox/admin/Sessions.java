package dev.outbox.admin;

import dev.outbox.internal.SqlFailure;
import dev.outbox.jdbc.internal.Borrowed;
import dev.outbox.jdbc.internal.Connections;
import dev.outbox.jdbc.internal.TableName;
import dev.outbox.migrations.Database;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

/** Opens a session per call. Thread-safe. */
final class Sessions {
    private final Connections connections;
    private final Map<Box, TableName> names;

    Sessions(DataSource dataSource, Map<Box, TableName> names) {
        this.connections = new Connections(dataSource);
        this.connections.distrustDefaults(); // an action must not fail for the pool's isolation
        this.names = names;
    }

    interface Work<T> {
        T in(Session session) throws SQLException;
    }

    /** @param what as in {@code cannot <what>} */
    <T> T run(String what, Work<T> work) {
        try (Borrowed borrowed = connections.autoCommitting()) {
            Flavor flavor = switch (Database.of(borrowed.connection())) {
                case POSTGRES -> new PostgresFlavor();
                case SQLSERVER -> new SqlServerFlavor();
            };
            return work.in(new Session(borrowed.connection(), flavor, names));
        } catch (SQLException e) {
            throw SqlFailure.of("cannot " + what, e);
        }
    }
}
