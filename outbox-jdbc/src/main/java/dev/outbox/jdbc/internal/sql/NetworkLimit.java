package dev.outbox.jdbc.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;

/**
 * Bounds how long a connection waits for an answer: a server or a network that vanishes without a word sends none, and a
 * thread would wait until the kernel gives up, which can take hours. A driver whose connection has waited for longer closes
 * it, and pools do not keep a closed connection. The drivers of PostgreSQL and SQL Server keep the limit in the client, so
 * it costs no round trip. A shorter limit that the connection has already stays.
 *
 * <p>Closing it gives the connection back the limit it had.
 */
public final class NetworkLimit implements AutoCloseable {
    private static final int UNCHANGED = -1;

    private final Connection connection;
    private final int before;

    private NetworkLimit(Connection connection, int before) {
        this.connection = connection;
        this.before = before;
    }

    /** From now on until it is closed. A driver without such limits stays without. */
    public static NetworkLimit on(Connection connection, Duration limit) throws SQLException {
        int millis = (int) Math.min(Integer.MAX_VALUE, limit.toMillis());
        try {
            int before = connection.getNetworkTimeout();
            if (before == 0 || before > millis) {
                connection.setNetworkTimeout(Runnable::run, millis);
                return new NetworkLimit(connection, before);
            }
        } catch (SQLFeatureNotSupportedException e) {
            // nothing to bound it with
        }
        return new NetworkLimit(connection, UNCHANGED);
    }

    @Override
    public void close() throws SQLException {
        if (before != UNCHANGED && !connection.isClosed()) {
            connection.setNetworkTimeout(Runnable::run, before);
        }
    }
}
