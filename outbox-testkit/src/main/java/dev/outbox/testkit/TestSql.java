package dev.outbox.testkit;

import dev.outbox.internal.Require;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Runs a test's own SQL, with which it stores, changes or looks up rows without the library. Each call is one statement
 * on a connection of its own, which has to be in auto-commit mode. Thread-safe.
 */
public final class TestSql {
    private final DataSource dataSource;

    private TestSql(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** SQL for the database of this data source. */
    public static TestSql on(DataSource dataSource) {
        return new TestSql(Require.present("dataSource", dataSource));
    }

    /**
     * Runs a statement that returns no rows.
     *
     * @return how many rows it changed; 0 for a statement that never changes rows
     */
    public int execute(String sql, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = prepared(connection, sql, parameters)) {
            statement.execute();
            return Math.max(0, statement.getUpdateCount());
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed: " + e.getMessage(), e);
        }
    }

    /** The first column of all rows, as text. */
    public List<@Nullable String> query(String sql, Object... parameters) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = prepared(connection, sql, parameters);
                ResultSet rows = statement.executeQuery()) {
            List<@Nullable String> values = new ArrayList<>();
            while (rows.next()) {
                values.add(rows.getString(1));
            }
            return values;
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed: " + e.getMessage(), e);
        }
    }

    private static PreparedStatement prepared(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
        return statement;
    }
}
