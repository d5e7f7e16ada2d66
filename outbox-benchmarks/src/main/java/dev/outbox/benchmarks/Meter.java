package dev.outbox.benchmarks;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** Reads clock, CPU of the database and write-ahead log when it starts and when it stops. */
final class Meter {
    private final Server server;
    private final long started;
    private final long walAtStart;
    private final @Nullable Long cpuAtStart;
    private long stopped;

    private Meter(Server server) throws SQLException {
        this.server = server;
        this.walAtStart = server.walBytes();
        this.cpuAtStart = server.cpuMicros();
        this.started = System.nanoTime();
    }

    static Meter start(Server server) throws SQLException {
        return new Meter(server);
    }

    /** Stops the clock. CPU and log run on: what is still written belongs to these messages too. */
    void stopClock() {
        stopped = System.nanoTime();
    }

    Measurement read(int messages) throws SQLException {
        Long cpu = server.cpuMicros();
        double wal = (double) (server.walBytes() - walAtStart) / messages;
        return new Measurement(
                messages / ((stopped - started) / 1e9),
                null,
                null,
                null,
                cpu == null || cpuAtStart == null ? null : (double) (cpu - cpuAtStart) / messages,
                wal);
    }
}
