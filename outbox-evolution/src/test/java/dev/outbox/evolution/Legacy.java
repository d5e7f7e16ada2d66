package dev.outbox.evolution;

import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** A database with legacy tables in it, and short ways to look at them. */
final class Legacy implements AutoCloseable {
    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    final Spelling spelling;

    Legacy(Spelling spelling) throws SQLException {
        this.spelling = spelling;
        run(LegacyTables.outbox(spelling, "outbox"));
        run(LegacyTables.inbox(spelling, "inbox"));
    }

    DataSource dataSource() {
        return database.dataSource();
    }

    String jdbcUrl() {
        return database.jdbcUrl();
    }

    /** Runs statements with bracketed names of old columns. */
    void run(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(spelling.sql(sql));
        }
    }

    /** The rows of a query with bracketed names of old columns, each as its values joined by commas. */
    List<String> rows(String sql) throws SQLException {
        try (Connection connection = dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(spelling.sql(sql))) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                StringBuilder values = new StringBuilder();
                for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
                    values.append(i == 1 ? "" : ",").append(row.getString(i));
                }
                rows.add(values.toString());
            }
            return rows;
        }
    }

    String value(String sql) throws SQLException {
        List<String> rows = rows(sql);
        if (rows.size() != 1) {
            throw new IllegalStateException(rows.size() + " rows");
        }
        return rows.get(0);
    }

    @Override
    public void close() {
        database.close();
    }
}
