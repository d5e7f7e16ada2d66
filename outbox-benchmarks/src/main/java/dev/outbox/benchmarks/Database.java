package dev.outbox.benchmarks;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.ds.PGSimpleDataSource;

/** The database of one contender for one run. Closing it closes its pools. */
final class Database implements AutoCloseable {
    private final String url;
    private final boolean openAhead;
    private final List<HikariDataSource> pools = new ArrayList<>();

    /** @param openAhead whether pools open all their connections at once */
    Database(String url, boolean openAhead) {
        this.url = url;
        this.openAhead = openAhead;
    }

    /** An address with everything that another process needs to connect. */
    String url() {
        return url;
    }

    /** Opens a connection at each call. */
    DataSource direct() {
        return direct(url);
    }

    static DataSource direct(String url) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url);
        return dataSource;
    }

    /** A pool whose connections are all open already, so that opening them is not measured. */
    DataSource pool(int connections) throws SQLException {
        HikariDataSource pool = pool(url, connections);
        pools.add(pool);
        List<Connection> opened = new ArrayList<>();
        try {
            for (int i = 0; openAhead && i < connections; i++) {
                opened.add(pool.getConnection());
            }
        } finally {
            for (Connection connection : opened) {
                connection.close();
            }
        }
        return pool;
    }

    static HikariDataSource pool(String url, int connections) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(direct(url));
        config.setMaximumPoolSize(connections);
        config.setMinimumIdle(0);
        return new HikariDataSource(config);
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = direct().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    long count(String sql) throws SQLException {
        try (Connection connection = direct().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** Refreshes the statistics of all tables, so that every contender starts from the same state. */
    void analyze() throws SQLException {
        List<String> tables = new ArrayList<>();
        try (Connection connection = direct().getConnection();
                ResultSet names = connection.getMetaData().getTables(null, "public", "%", new String[] {"TABLE"})) {
            while (names.next()) {
                tables.add(names.getString("TABLE_NAME"));
            }
        }
        execute("VACUUM ANALYZE " + String.join(", ", tables));
    }

    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
    }
}
