package dev.outbox.sqlserver;

import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.sql.Query;
import dev.outbox.jdbc.internal.sql.Sql;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Several statements in a single round trip on a connection of our own in auto-commit mode, with one answer.
 *
 * <p>The driver sends them with their parameters to {@code sp_executesql} or {@code sp_prepexec}, and when that
 * returns the server puts the SET options back, the isolation level among them: so a pooled connection goes back as
 * it came. READ COMMITTED is said each time, because a pool may hand out a connection on which somebody else said
 * SNAPSHOT, where READPAST is an error (650).
 */
final class SqlServerBatch {
    static final String SETTINGS = """
            SET NOCOUNT ON;
            SET XACT_ABORT OFF;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            """;

    private final Sql sql;

    private SqlServerBatch(Sql sql) {
        this.sql = sql;
    }

    static SqlServerBatch of(Layout layout, String statements) {
        return new SqlServerBatch(layout.resolve(SETTINGS + statements));
    }

    interface Parameters {
        void set(Query query) throws SQLException;
    }

    interface Reader<T> {
        T read(ResultSet rows) throws SQLException;
    }

    <T> T run(Connection connection, Parameters parameters, Reader<T> reader) throws SQLException {
        try (Query query = sql.on(connection)) {
            parameters.set(query);
            try (ResultSet rows = query.rows()) {
                return reader.read(rows);
            }
        } catch (SQLException e) {
            end(connection, e);
            throw e;
        }
    }

    /** A batch that opened a transaction and failed has left it open. */
    private static void end(Connection connection, SQLException failure) {
        try (Statement statement = connection.createStatement()) {
            statement.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }
}
