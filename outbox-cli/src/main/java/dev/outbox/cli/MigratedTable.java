package dev.outbox.cli;

import dev.outbox.jdbc.TableKind;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * A table that migrations are about, there or not.
 *
 * @param name {@code name} or {@code schema.name}
 */
record MigratedTable(TableKind kind, String name, boolean exists) {
    static MigratedTable of(DataSource dataSource, TableKind kind, String name) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            return new MigratedTable(kind, name, exists(connection.getMetaData(), name));
        }
    }

    private static boolean exists(DatabaseMetaData catalog, String name) throws SQLException {
        int dot = name.indexOf('.');
        String schema = dot < 0 ? null : name.substring(0, dot);
        String table = name.substring(dot + 1);
        try (ResultSet tables = catalog.getTables(null, schema, table, null)) {
            while (tables.next()) { // the names are patterns there: an underscore fits any character
                if (tables.getString("TABLE_NAME").equals(table)) {
                    return true;
                }
            }
            return false;
        }
    }
}
