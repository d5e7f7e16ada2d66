package dev.outbox.torture;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A PostgreSQL that can be crashed and started again on the same port. Fsync is off: what a process has written
 * survives the end of that process, and nobody pulls the plug of the machine here. Commits are synchronous.
 */
final class Server implements AutoCloseable {
    private final Path data;
    private final int port;
    private EmbeddedPostgres process;

    private Server(Path data) throws IOException {
        this.data = data;
        this.process = start(0);
        this.port = process.getPort();
    }

    static Server start(Path directory) {
        try {
            return new Server(Files.createTempDirectory(directory, "pg").resolve("data"));
        } catch (IOException e) {
            throw new UncheckedIOException("PostgreSQL did not start in " + directory, e);
        }
    }

    private EmbeddedPostgres start(int onPort) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setPGStartupWait(Duration.ofSeconds(60))
                .setOutputRedirector(Redirect.DISCARD)
                .setErrorRedirector(Redirect.DISCARD)
                .setServerConfig("fsync", "off")
                .setServerConfig("synchronous_commit", "on")
                .setServerConfig("track_commit_timestamp", "on")
                .setServerConfig("max_connections", "150")
                .setServerConfig("max_wal_size", "2GB")
                .setServerConfig("deadlock_timeout", "100ms")
                .setServerConfig("idle_in_transaction_session_timeout", "20s")
                .setServerConfig("log_statement", "none");
        return (onPort == 0 ? builder : builder.setPort(onPort)).start();
    }

    int port() {
        return port;
    }

    String jdbcUrl() {
        return jdbcUrl(port);
    }

    /** The same database by way of something that listens here. */
    static String jdbcUrl(int port) {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres&sslmode=disable&loginTimeout=5";
    }

    /** Straight to the server, for the harness itself. */
    PGSimpleDataSource dataSource() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(jdbcUrl());
        dataSource.setLoginTimeout(300); // the harness is patient
        return dataSource;
    }

    Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    /** SIGKILL to the postmaster and every process of its, then recovery. */
    void crashAndRestart() {
        try {
            crash();
            process.close(); // only its lock file is left
            process = start(port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (Exception e) {
            throw new IllegalStateException("the database did not come back after a crash", e);
        }
    }

    private void crash() throws Exception {
        long pid = Long.parseLong(Files.readAllLines(lockFile()).get(0).strip());
        ProcessHandle postmaster = ProcessHandle.of(pid).orElseThrow();
        new ProcessBuilder("kill", "-STOP", String.valueOf(pid)).start().waitFor(); // it forks nobody any more
        List<ProcessHandle> all = new ArrayList<>(List.of(postmaster));
        postmaster.descendants().forEach(all::add);
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle one : all) {
            one.onExit().get(2, TimeUnit.MINUTES);
        }
    }

    private Path lockFile() {
        return data.resolve("postmaster.pid");
    }

    /** At once, so that nothing is written any more when its directory is deleted. */
    @Override
    public void close() throws IOException {
        try {
            if (Files.exists(lockFile())) {
                crash();
            }
        } catch (Exception e) {
            throw new IOException("the database did not stop", e);
        }
        process.close();
    }
}
