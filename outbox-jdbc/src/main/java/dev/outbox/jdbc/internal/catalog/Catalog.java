package dev.outbox.jdbc.internal.catalog;

import dev.outbox.jdbc.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Reads what a database knows of its tables. A name without a schema is looked for where the database looks for it in any
 * statement: along the search path of PostgreSQL, in the default schema of SQL Server.
 */
public interface Catalog {
    static Catalog of(Database database) {
        return switch (database) {
            case POSTGRES -> new PostgresCatalog();
            case SQLSERVER -> new SqlServerCatalog();
        };
    }

    /** The outbox or inbox table of this name; empty if there is no such table. */
    Optional<FoundTable> find(Connection connection, TableName name) throws SQLException;

    /**
     * {@link #find} without a lock. On PostgreSQL the table has no indexes then, because to read their conditions waits for
     * whoever has locked the table.
     */
    Optional<FoundTable> glance(Connection connection, TableName name) throws SQLException;

    /** Whether there is any table of this name; locks nothing. */
    boolean exists(Connection connection, TableName name) throws SQLException;

    /** Whether there is any table of this name with this column, which is given as PostgreSQL spells it. */
    boolean hasColumn(Connection connection, TableName name, String column) throws SQLException;
}
