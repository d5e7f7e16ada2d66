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

    /** Stops the clock. CPU and log keep counting, because what is still written belongs to these messages too. */
    void stopClock() {
        stopped = System.nanoTime();
    }

    Measurement read(int messages) throws SQLException {
        return read(messages / ((stopped - started) / 1e9), null, messages);
    }

    /** The figures of a poller that had nothing to deliver, all per minute. */
    Measurement readIdle(long transactions) throws SQLException {
        double minutes = (stopped - started) / 60e9;
        return read(null, transactions / minutes, minutes);
    }

    private Measurement read(@Nullable Double perSecond, @Nullable Double idlePerMinute, double per)
            throws SQLException {
        Long cpu = server.cpuMicros();
        double wal = (server.walBytes() - walAtStart) / per;
        return new Measurement(
                perSecond,
                null,
                null,
                null,
                idlePerMinute,
                cpu == null || cpuAtStart == null ? null : (cpu - cpuAtStart) / per,
                wal);
    }
}
