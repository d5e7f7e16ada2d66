package dev.outbox.postgres;

import dev.outbox.OutboxException;
import dev.outbox.internal.SqlFailure;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection that sends NOTIFY or waits for it, in auto-commit mode and with a network timeout: what hangs
 * on it is a thread that nobody watches. It goes back as it came. Not thread-safe.
 */
final class NotifyConnection implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PostgresOutbox.class);

    private static final String LISTEN = "LISTEN %s";
    private static final String UNLISTEN = "UNLISTEN %s";
    private static final String NOTIFY_PING = "NOTIFY %s, 'ping'";

    /** Both are one transaction, whose commit would wait for the disk. */
    private static final String NOTIFY = "NOTIFY %s; SELECT set_config('synchronous_commit', 'off', true)";

    private static final Duration NETWORK_TIMEOUT = Duration.ofSeconds(10);

    private final Connection connection;
    private final PGConnection driver;
    private final String channel;
    private final boolean autoCommitBefore;
    private final int timeoutBefore;
    private boolean listening;

    /** @param channel made by us, so it needs no quoting */
    NotifyConnection(DataSource dataSource, String channel) throws SQLException {
        this.connection = dataSource.getConnection();
        this.channel = channel;
        boolean ready = false;
        try {
            this.driver = connection.unwrap(PGConnection.class);
            this.autoCommitBefore = connection.getAutoCommit();
            this.timeoutBefore = connection.getNetworkTimeout();
            connection.setNetworkTimeout(Runnable::run, (int) NETWORK_TIMEOUT.toMillis());
            if (!autoCommitBefore) {
                connection.setAutoCommit(true);
            }
            ready = true;
        } finally {
            if (!ready) {
                connection.close();
            }
        }
    }

    /**
     * Checks that this data source can be used. One that cannot be reached right now may be reachable later.
     *
     * @throws OutboxException if it can never be used
     */
    static void check(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            if (!connection.isWrapperFor(PGConnection.class)) {
                throw new OutboxException(
                        "notify(...) needs connections of the PostgreSQL JDBC driver, but "
                                + connection.getClass().getName()
                                + " does not unwrap to org.postgresql.PGConnection; give it another DataSource or leave it out");
            }
        } catch (SQLException e) {
            if (!SqlFailure.isRetryable(e)) {
                throw SqlFailure.of("the data source of notify(...) gives no connection", e);
            }
            LOG.warn("the data source of notify(...) gives no connection now; going on without it until it does", e);
        } catch (NoClassDefFoundError e) {
            throw new OutboxException(
                    "notify(...) needs the PostgreSQL JDBC driver; add org.postgresql:postgresql", e, false);
        }
    }

    void listen() throws SQLException {
        execute(LISTEN);
        listening = true;
    }

    void sendWakeUp() throws SQLException {
        execute(NOTIFY);
    }

    void sendPing() throws SQLException {
        execute(NOTIFY_PING);
    }

    /** Waits for notifications, at most this long. No statement is sent. */
    List<PGNotification> await(Duration time) throws SQLException {
        PGNotification[] heard = driver.getNotifications((int) time.toMillis());
        return heard == null ? List.of() : List.of(heard);
    }

    static boolean isPing(PGNotification notification) {
        return notification.getParameter().equals("ping");
    }

    /** The server process that does the work; notifications say which one sent them. */
    int process() {
        return driver.getBackendPID();
    }

    /** Ends a connection that has fallen silent: it is in no state to be given to anybody. */
    void abort() throws SQLException {
        connection.abort(Runnable::run);
    }

    @Override
    public void close() throws SQLException {
        try (Connection back = connection) {
            if (back.isClosed()) {
                return;
            }
            if (listening) {
                execute(UNLISTEN);
            }
            if (!autoCommitBefore) {
                back.setAutoCommit(false);
            }
            back.setNetworkTimeout(Runnable::run, timeoutBefore);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql.formatted(channel));
        }
    }
}
