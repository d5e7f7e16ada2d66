package dev.outbox.torture;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A PgBouncer in transaction mode before the database. */
final class PgBouncer implements AutoCloseable {
    private final Process process;
    private final int port;

    private PgBouncer(Process process, int port) {
        this.process = process;
        this.port = port;
    }

    static boolean isInstalled() {
        return binary().isPresent();
    }

    /** The children wait until it answers, as they do for the database itself. */
    static PgBouncer inTransactionMode(int target, Path directory) throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path configuration = Files.writeString(directory.resolve("pgbouncer.ini"), """
                [databases]
                postgres = host=127.0.0.1 port=%d user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = 12
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(target, port));
        List<String> command = new ArrayList<>(List.of(binary().orElseThrow().toString()));
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(configuration.toString());
        return new PgBouncer(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("pgbouncer.log").toFile())
                        .start(),
                port);
    }

    int port() {
        return port;
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
