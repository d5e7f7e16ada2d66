package dev.outbox.benchmarks;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An embedded PostgreSQL in which each commit waits for the disk. */
final class Server implements AutoCloseable {
    private final EmbeddedPostgres postgres;
    private final boolean smoke;
    private final Map<String, String> settings;

    /** For queries during a run, so that they open no connection while it is measured. */
    private final Connection connection;

    private final @Nullable ServerCpu cpu;
    private final Set<String> kept = new HashSet<>();

    private Server(EmbeddedPostgres postgres, Map<String, String> settings, boolean smoke)
            throws SQLException, IOException {
        this.postgres = postgres;
        this.settings = settings;
        this.smoke = smoke;
        this.connection = postgres.getPostgresDatabase().getConnection();
        this.cpu = ServerCpu.ofParent(number("SELECT pg_backend_pid()"));
    }

    static Server start(boolean smoke) throws IOException, SQLException {
        Map<String, String> settings = new LinkedHashMap<>();
        settings.put("fsync", "on");
        settings.put("synchronous_commit", "on");
        settings.put("full_page_writes", "on");
        settings.put("shared_buffers", smoke ? "128MB" : "1GB");
        settings.put("max_wal_size", "4GB");
        settings.put("checkpoint_timeout", "30min");
        settings.put("max_connections", "200");
        settings.put("log_statement", "none");
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
        settings.forEach(builder::setServerConfig);
        return new Server(builder.start(), settings, smoke);
    }

    /** Version and settings for the printout, as the server itself sees them. */
    String describe() throws SQLException {
        DatabaseMetaData metaData = connection.getMetaData();
        StringBuilder description = new StringBuilder("PostgreSQL ").append(metaData.getDatabaseProductVersion());
        for (String setting : settings.keySet()) {
            description.append(", ").append(setting).append(' ').append(text("SHOW " + setting));
        }
        return description
                .append("; pgjdbc ")
                .append(metaData.getDriverVersion())
                .toString();
    }

    /**
     * An empty database. The checkpoint is taken here and not between filling a table and draining it: a page's first change
     * after one is logged as a whole page, which would hide the cost of the change itself.
     */
    Database emptyDatabase() throws SQLException {
        execute("DROP SCHEMA public CASCADE");
        execute("CREATE SCHEMA public");
        execute("CHECKPOINT");
        return new Database(postgres.getJdbcUrl("postgres", "postgres"), !smoke);
    }

    /** Fills a database. */
    interface Filling {
        void fill(Database database) throws Exception;
    }

    /** A database that is filled when it is first needed and kept for all contenders that change nothing. */
    Database keptDatabase(String name, Filling filling) throws Exception {
        Database database = new Database(postgres.getJdbcUrl("postgres", name), !smoke);
        if (kept.add(name)) {
            execute("CREATE DATABASE " + name);
            filling.fill(database);
            execute("CHECKPOINT");
        }
        return database;
    }

    /**
     * Makes the kernel write the pages of the filling to disk, so that no commit waits for them. Migrating a table leaves
     * more such pages than filling one. Not a checkpoint, see {@link #emptyDatabase}.
     */
    void writeBack() throws InterruptedException {
        try {
            new ProcessBuilder("sync").start().waitFor();
        } catch (IOException e) {
            // no such command here
        }
    }

    long walBytes() throws SQLException {
        return number("SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn");
    }

    /** How many transactions the server has reported for the database of {@link #emptyDatabase}. */
    long transactions() throws SQLException {
        return number("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()");
    }

    /** CPU time of the server until now, or null where it cannot be measured. */
    @Nullable
    Long cpuMicros() {
        try {
            return cpu == null ? null : cpu.micros();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(text(sql));
    }

    private String text(String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    @Override
    public void close() throws IOException, SQLException {
        execute("CHECKPOINT"); // stopping has little patience for one
        connection.close();
        postgres.close();
    }
}
