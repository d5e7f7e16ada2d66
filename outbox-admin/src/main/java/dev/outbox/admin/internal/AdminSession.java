package dev.outbox.admin.internal;

import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One call of an operator: a connection, and how to talk to its database.
 *
 * @param timeout how long each statement may take; empty means as long as it takes
 */
public record AdminSession(Connection connection, AdminDialect dialect, Optional<Duration> timeout) {
    /** @param statement with logical names */
    public Query query(AdminTable table, String statement) throws SQLException {
        return query(table.sql(statement));
    }

    public Query query(Sql sql) throws SQLException {
        Query query = dialect.planned(sql.on(connection));
        return timeout.isPresent() ? query.within(timeout.get()) : query;
    }

    /** Several statements of one transaction. */
    public interface Work<T> {
        T run() throws SQLException;
    }

    /** If a statement fails, closing the connection rolls back. */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        T result = work.run();
        connection.commit();
        connection.setAutoCommit(true);
        return result;
    }

    /** A text as a parameter. */
    public @Nullable Object text(@Nullable String text) {
        return text == null ? null : dialect.text(text);
    }

    /** Reads one row. */
    public interface Row<T> {
        T read(ResultSet row) throws SQLException;
    }

    public static <T> List<T> list(Query query, Row<T> reader) throws SQLException {
        try (ResultSet rows = query.rows()) {
            return all(rows, reader);
        }
    }

    public static <T> T one(Query query, Row<T> reader) throws SQLException {
        try (ResultSet rows = query.rows()) {
            rows.next();
            return reader.read(rows);
        }
    }

    /** The rows of a statement that has neither logical names nor parameters. */
    public <T> List<T> list(String statement, Row<T> reader) throws SQLException {
        try (Statement plain = connection.createStatement();
                ResultSet rows = plain.executeQuery(statement)) {
            return all(rows, reader);
        }
    }

    /** The only row of a statement that has neither logical names nor parameters. */
    public <T> T one(String statement, Row<T> reader) throws SQLException {
        return list(statement, reader).get(0);
    }

    private static <T> List<T> all(ResultSet rows, Row<T> reader) throws SQLException {
        List<T> all = new ArrayList<>();
        while (rows.next()) {
            all.add(reader.read(rows));
        }
        return all;
    }
}
