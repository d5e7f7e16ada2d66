package dev.outbox.sqlserver;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.mssqlserver.MSSQLServerContainer;

/** The servers that tests may run on; what is not there says why. Thread-safe. */
public enum Server {
    /** The one that {@code OUTBOX_SQLSERVER_URL} names, with user and password in it or beside it. */
    GIVEN {
        @Override
        String url() {
            String url = System.getenv("OUTBOX_SQLSERVER_URL");
            if (url == null || url.isBlank()) {
                throw new UnavailableException("OUTBOX_SQLSERVER_URL is not set");
            }
            return url + property("user", "OUTBOX_SQLSERVER_USER") + property("password", "OUTBOX_SQLSERVER_PASSWORD");
        }

        private static String property(String name, String variable) {
            String value = System.getenv(variable);
            return value == null ? "" : ";" + name + "={" + value.replace("}", "}}") + "}";
        }
    },
    V2019 {
        @Override
        String url() {
            return container("mcr.microsoft.com/mssql/server:2019-latest");
        }
    },
    V2022 {
        @Override
        String url() {
            return container("mcr.microsoft.com/mssql/server:2022-latest");
        }
    };

    private final Map<Variant, SqlServerDatabase> databases = new EnumMap<>(Variant.class);
    private final ServerGaps gaps = new ServerGaps();
    private @org.jspecify.annotations.Nullable String unavailable;
    private @org.jspecify.annotations.Nullable String url;
    private boolean babelfish;

    /** Starts it where that has to be. */
    abstract String url();

    /** Why a test cannot run there. */
    static final class UnavailableException extends RuntimeException {
        private static final long serialVersionUID = 1;

        UnavailableException(String reason) {
            super(reason);
        }
    }

    private static String container(String image) {
        if (!DockerClientFactory.instance().isDockerAvailable()) {
            throw new UnavailableException("Docker is not available to run " + image);
        }
        MSSQLServerContainer container = new MSSQLServerContainer(image).acceptLicense();
        container.start();
        return container.getJdbcUrl() + ";user=" + container.getUsername() + ";password=" + container.getPassword();
    }

    /** Why tests cannot run on this server in this variant; empty if they can. */
    public synchronized Optional<String> obstacle(Variant variant) {
        if (unavailable != null) {
            return Optional.of(unavailable);
        }
        try {
            database(variant);
            return Optional.empty();
        } catch (UnavailableException e) {
            if (url == null) {
                unavailable = e.getMessage();
            }
            return Optional.ofNullable(e.getMessage());
        }
    }

    /** The database that the annotation of this test class names. */
    static SqlServerDatabase databaseOf(Class<?> test) {
        OnServer on = test.getAnnotation(OnServer.class);
        return on.value().database(on.variant());
    }

    public synchronized SqlServerDatabase database(Variant variant) {
        return databases.computeIfAbsent(variant, this::open);
    }

    private SqlServerDatabase open(Variant variant) {
        if (url == null) {
            String started = url();
            babelfish = isBabelfish(started);
            url = started;
        }
        return variant.open(url, babelfish);
    }

    /** Why this test cannot pass on this server, which is there. */
    public Optional<String> gap(Variant variant, String test) {
        return gaps.of(test, database(variant));
    }

    public boolean has(ServerGaps.Trait trait) {
        return gaps.has(trait, database(Variant.AS_IT_IS));
    }

    private static boolean isBabelfish(String url) {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT @@VERSION")) {
            row.next();
            return row.getString(1).contains("Babelfish");
        } catch (SQLException e) {
            throw new IllegalStateException("the server does not answer", e);
        }
    }

    /** How the database is set. */
    public enum Variant {
        /** As the URL's database is. */
        AS_IT_IS(""),
        RCSI_ON("SET READ_COMMITTED_SNAPSHOT ON"),
        RCSI_OFF("SET READ_COMMITTED_SNAPSHOT OFF"),
        /** Every connection of the pool reads by SNAPSHOT, as a pool may hand them out. */
        SNAPSHOT("SET ALLOW_SNAPSHOT_ISOLATION ON"),
        /** Literals of statements without parameters are made parameters. */
        FORCED("SET PARAMETERIZATION FORCED"),
        /** Lengths of texts count by code point, by default. */
        SUPPLEMENTARY("COLLATE Latin1_General_100_CI_AS_SC"),
        /** The last one that does not know OPENJSON. */
        OLD("SET COMPATIBILITY_LEVEL = 120");

        private final String setting;

        Variant(String setting) {
            this.setting = setting;
        }

        private SqlServerDatabase open(String url, boolean babelfish) {
            if (this == AS_IT_IS) {
                return new SqlServerDatabase(url, null, babelfish);
            }
            String name = "outbox_test_" + name().toLowerCase(java.util.Locale.ROOT);
            try (HikariDataSource pool = new SqlServerDatabase(url, null, babelfish).pool();
                    Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("IF DB_ID(N'" + name + "') IS NULL CREATE DATABASE " + name);
                statement.execute("ALTER DATABASE " + name + " " + setting);
            } catch (SQLException e) {
                throw new UnavailableException(
                        "the server cannot ALTER DATABASE ... " + setting + ": error " + e.getErrorCode());
            }
            return new SqlServerDatabase(
                    url.replaceAll("(?i);databaseName=[^;]*", "") + ";databaseName=" + name,
                    this == SNAPSHOT ? "SET TRANSACTION ISOLATION LEVEL SNAPSHOT" : null,
                    babelfish);
        }
    }
}
