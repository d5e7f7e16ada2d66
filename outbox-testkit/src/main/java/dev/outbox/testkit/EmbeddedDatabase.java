package dev.outbox.testkit;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A fresh, empty PostgreSQL database for one test or test class, on a server that all tests of a JVM share.
 *
 * <p>The server starts with the first database and ends with the JVM. It does not survive a crash (fsync is off) and
 * accepts 200 connections. {@code -Doutbox.test.postgres.url=jdbc:postgresql://host/postgres?user=…} creates the
 * databases on that server instead; its user must be allowed to create them. A Testcontainers URL, such as {@code
 * jdbc:tc:postgresql:17:///postgres}, starts that container, if Testcontainers is among your dependencies. Thread-safe.
 */
public final class EmbeddedDatabase implements AutoCloseable {
    /** The system property that names another server. */
    public static final String URL_PROPERTY = "outbox.test.postgres.url";

    private final PGSimpleDataSource dataSource;
    private final List<HikariDataSource> pools = new CopyOnWriteArrayList<>();

    private EmbeddedDatabase(PGSimpleDataSource dataSource) {
        this.dataSource = dataSource;
    }

    /** Creates a database with a new name. */
    public static EmbeddedDatabase create() {
        return named("");
    }

    private static EmbeddedDatabase named(String options) {
        String name = "outbox_" + UUID.randomUUID().toString().replace("-", "");
        execute("CREATE DATABASE " + name + options);
        PGSimpleDataSource dataSource = Server.dataSource();
        dataSource.setDatabaseName(name);
        return new EmbeddedDatabase(dataSource);
    }

    /** Creates a copy of another database, to which no session may be connected at that moment. */
    static EmbeddedDatabase copyOf(EmbeddedDatabase template) {
        String name = template.dataSource.getDatabaseName();
        // a session whose connection was closed a moment ago may still be there
        execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + name + "'");
        return named(" TEMPLATE " + name);
    }

    /** Opens a new connection at each call; nothing is pooled. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** Opens a pool of at most this many connections. It is closed together with the database, if not before. */
    public HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(dataSource);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
    }

    /** A URL with everything that another process needs to connect, including user and password. */
    public String jdbcUrl() {
        StringBuilder url = new StringBuilder(dataSource.getUrl());
        append(url, "user", dataSource.getUser());
        append(url, "password", dataSource.getPassword());
        return url.toString();
    }

    private static void append(StringBuilder url, String name, @Nullable String value) {
        if (value != null) {
            url.append(url.indexOf("?") < 0 ? '?' : '&')
                    .append(name)
                    .append('=')
                    .append(URLEncoder.encode(value, StandardCharsets.UTF_8));
        }
    }

    /** The user who owns the database. */
    public @Nullable String user() {
        return dataSource.getUser();
    }

    /** Closes the pools and drops the database, even if sessions are still connected to it. */
    @Override
    public void close() {
        pools.forEach(HikariDataSource::close);
        execute("DROP DATABASE IF EXISTS " + dataSource.getDatabaseName() + " WITH (FORCE)");
    }

    private static void execute(String sql) {
        try (Connection connection = Server.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql + " failed: " + e.getMessage(), e);
        }
    }

    /** The server of this JVM: the class is loaded, and the server started, when it is first needed. */
    private static final class Server {
        private static final String TESTCONTAINERS = "jdbc:tc:";

        /** A container of Testcontainers runs as long as there is a connection by its own address. */
        private static @Nullable Connection container;

        private static final String URL = start();

        static PGSimpleDataSource dataSource() {
            PGSimpleDataSource dataSource = new PGSimpleDataSource();
            dataSource.setUrl(URL);
            return dataSource;
        }

        /** Its driver starts the container, and knows where the server is then; the user is always the same. */
        private static String startContainer(String given) {
            try {
                container = DriverManager.getConnection(given);
                String url = container.getMetaData().getURL();
                return url + (url.contains("?") ? "&" : "?") + "user=test&password=test";
            } catch (SQLException e) {
                throw new IllegalStateException(
                        "no server for " + URL_PROPERTY + "=" + given
                                + "; Testcontainers and its module for PostgreSQL have to be on the class path, and"
                                + " Docker has to run",
                        e);
            }
        }

        private static String start() {
            String given = System.getProperty(URL_PROPERTY, "");
            if (!given.isBlank()) {
                return given.startsWith(TESTCONTAINERS) ? startContainer(given) : given;
            }
            try {
                // It stops itself by a shutdown hook of its own.
                return EmbeddedPostgres.builder()
                        .setPGStartupWait(Duration.ofMinutes(3))
                        .setServerConfig("fsync", "off")
                        .setServerConfig("full_page_writes", "off")
                        .setServerConfig("max_connections", "200")
                        .setServerConfig("log_statement", "none")
                        .start()
                        .getJdbcUrl("postgres", "postgres");
            } catch (IOException e) {
                throw new UncheckedIOException("the embedded PostgreSQL server did not start", e);
            }
        }
    }
}
