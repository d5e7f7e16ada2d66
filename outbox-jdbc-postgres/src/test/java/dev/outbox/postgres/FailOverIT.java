package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.UnknownCommitException;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.migrations.OutboxMigrations;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A primary and a streaming replica change places under load. For a while the address of the primary leads to what is a
 * replica now, and connections made then stay open.
 */
class FailOverIT {
    private static final String READ_ONLY = "25006";

    @TempDir
    Path directory;

    private final Set<String> stored = ConcurrentHashMap.newKeySet();
    private final Set<String> unsure = ConcurrentHashMap.newKeySet();
    private final Set<String> delivered = ConcurrentHashMap.newKeySet();
    private final Queue<OutboxException> seenByCallers = new ConcurrentLinkedQueue<>();
    private final Queue<String> seenByPoller = new ConcurrentLinkedQueue<>();
    private volatile boolean stops;

    @Test
    void nothingIsLostWhenAReplicaTakesOver() throws Exception {
        Path first = directory.resolve("first");
        Path second = directory.resolve("second");
        EmbeddedPostgres primary = start(first, 0);
        EmbeddedPostgres replica = null;
        try (TcpProxy address = new TcpProxy(url(primary));
                HikariDataSource pool = pool(address)) {
            OutboxMigrations.install(pool);
            copy(primary, first, second);
            follow(second, primary.getPort());
            replica = start(second, 0);
            execute(primary.getPostgresDatabase(), "ALTER SYSTEM SET synchronous_standby_names = '*'");
            execute(primary.getPostgresDatabase(), "SELECT pg_reload_conf()");

            Outbox outbox = PostgresOutbox.builder(pool).listener(this::listen).build();
            Thread caller = new Thread(() -> callers(outbox, unpooled(address)), "caller");
            try (Poller poller = outbox.poller()
                    .to(item -> delivered.add(item.messageId()))
                    .lease(Duration.ofSeconds(5))
                    .start()) {
                assertThat(poller.isRunning()).isTrue();
                caller.start();
                await().until(() -> delivered.size() > 50);

                int port = primary.getPort();
                primary.close();
                execute(replica.getPostgresDatabase(), "SELECT pg_promote()");
                follow(first, replica.getPort());
                primary = start(first, port);
                await().until(() -> seenByPoller.contains(READ_ONLY)
                        && seenByCallers.stream().anyMatch(e -> READ_ONLY.equals(e.sqlState())));

                address.lead(replica.getPort());
                int before = stored.size();
                await().until(() -> stored.size() > before + 50);
                stops = true;
                caller.join();
                await().until(() -> delivered.containsAll(stored));
            }
            assertThat(seenByCallers).allMatch(e -> e.isRetryable() || e instanceof UnknownCommitException);
            assertThat(delivered).allMatch(id -> stored.contains(id) || unsure.contains(id));
        } finally {
            stops = true;
            primary.close();
            if (replica != null) {
                replica.close();
            }
        }
    }

    private void listen(OutboxEvent event) {
        if (event instanceof OutboxEvent.PollFailed failed && failed.cause() instanceof OutboxException e) {
            seenByPoller.add(String.valueOf(e.sqlState()));
        }
    }

    /** Stores one message after the other, and each again that failed. */
    private void callers(Outbox outbox, DataSource dataSource) {
        for (int i = 0; !stops; i++) {
            String id = "m-" + i;
            while (!stops && !stored.contains(id)) {
                try {
                    outbox.transaction(
                            dataSource,
                            tx -> outbox.enqueue(tx, Message.to("t").id(id).payload("")));
                    stored.add(id);
                } catch (OutboxException e) {
                    if (e instanceof UnknownCommitException) {
                        unsure.add(id);
                    }
                    seenByCallers.add(e);
                }
            }
        }
    }

    private static String url(EmbeddedPostgres server) {
        return server.getJdbcUrl("postgres", "postgres");
    }

    private static HikariDataSource pool(TcpProxy address) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(address.jdbcUrl());
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(1_000);
        return new HikariDataSource(config);
    }

    private static DataSource unpooled(TcpProxy address) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(address.jdbcUrl());
        return dataSource;
    }

    private static EmbeddedPostgres start(Path data, int port) throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
                .setDataDirectory(data)
                .setCleanDataDirectory(false)
                .setServerConfig("wal_keep_size", "64MB")
                .setServerConfig("max_connections", "50");
        return (port == 0 ? builder : builder.setPort(port)).start();
    }

    /** A base backup by hand. */
    private static void copy(EmbeddedPostgres primary, Path from, Path to) throws SQLException, IOException {
        try (Connection session = primary.getPostgresDatabase().getConnection();
                Statement backup = session.createStatement()) {
            backup.execute("SELECT pg_backup_start('copy', true)");
            try (Stream<Path> files = Files.walk(from)) {
                files.filter(file -> !from.relativize(file).toString().matches("postmaster\\..*|pg_wal/.+|.*\\.lock"))
                        .forEach(file ->
                                copy(file, to.resolve(from.relativize(file).toString())));
            }
            try (ResultSet end = backup.executeQuery("SELECT labelfile FROM pg_backup_stop(false)")) {
                end.next();
                Files.writeString(to.resolve("backup_label"), end.getString(1));
            }
        }
        Files.setPosixFilePermissions(to, PosixFilePermissions.fromString("rwx------"));
    }

    private static void copy(Path file, Path copy) {
        try {
            if (Files.isDirectory(file)) {
                Files.createDirectories(copy);
            } else if (Files.exists(file)) {
                Files.copy(file, copy);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Makes a server that is not running a replica of the one at this port. */
    private static void follow(Path data, int port) throws IOException {
        Files.writeString(data.resolve("standby.signal"), "");
        Files.writeString(
                data.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 port=" + port + " user=postgres'\n");
    }

    private static void execute(DataSource dataSource, String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
