package dev.outbox.postgres;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.testkit.EmbeddedDatabase;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.postgresql.ds.PGSimpleDataSource;

/** A PgBouncer in transaction mode before one database. */
final class PgBouncer implements AutoCloseable {
    private final Process process;
    private final PGSimpleDataSource dataSource;

    private PgBouncer(Process process, PGSimpleDataSource dataSource) {
        this.process = process;
        this.dataSource = dataSource;
    }

    /** Skips the test where PgBouncer is not installed. */
    static PgBouncer inTransactionMode(EmbeddedDatabase database, int poolSize, Path directory) throws IOException {
        Optional<Path> binary = binary();
        assumeTrue(
                binary.isPresent(),
                "SKIPPED: no pgbouncer on this machine; install it (Debian: apt install pgbouncer)");
        PGSimpleDataSource server = new PGSimpleDataSource();
        server.setUrl(database.jdbcUrl());
        int port;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        Path configuration = Files.writeString(directory.resolve("pgbouncer.ini"), """
                [databases]
                %s = host=%s port=%d user=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = %d
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        server.getDatabaseName(),
                        server.getServerNames()[0],
                        server.getPortNumbers()[0],
                        server.getUser(),
                        port,
                        poolSize));
        List<String> command = new ArrayList<>(List.of(binary.get().toString()));
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(configuration.toString());
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("pgbouncer.log").toFile())
                .start();
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl("jdbc:postgresql://127.0.0.1:" + port + "/" + server.getDatabaseName());
        dataSource.setUser(server.getUser());
        // what PgBouncer older than 1.21 needs: it does not know prepared statements
        dataSource.setPrepareThreshold(0);
        PgBouncer bouncer = new PgBouncer(process, dataSource);
        try {
            await().ignoreExceptions().until(() -> {
                try (Connection connection = dataSource.getConnection()) {
                    return connection.isValid(5);
                }
            });
        } catch (RuntimeException e) {
            bouncer.close();
            throw new IllegalStateException(
                    "pgbouncer did not start: " + Files.readString(directory.resolve("pgbouncer.log")), e);
        }
        return bouncer;
    }

    /** Connects through it, anew at each call. */
    PGSimpleDataSource dataSource() {
        return dataSource;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }

    private static Optional<Path> binary() {
        return Stream.concat(
                        Stream.of(System.getenv().getOrDefault("PATH", "").split(":")),
                        Stream.of("/usr/sbin", "/usr/local/sbin"))
                .map(directory -> Path.of(directory, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
    }
}
