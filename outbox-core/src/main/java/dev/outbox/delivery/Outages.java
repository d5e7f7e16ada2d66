package dev.outbox.delivery;

import dev.outbox.OutboxException;
import java.io.EOFException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Recognises the failures that show that a destination cannot be reached, whatever the message. */
public final class Outages {
    private static final int MOST_CAUSES = 20;

    private Outages() {}

    /**
     * Failures to connect, anywhere in the chain of causes: connection refused, unknown host, no route to the host, and
     * timeouts while connecting, of sockets and of the JDK's HTTP client. A message cannot cause them, so they never count
     * as an attempt. The default of {@link PollerBuilder#outage}.
     */
    public static Predicate<Throwable> connectFailures() {
        return failure -> anyCause(failure, Outages::isConnectFailure);
    }

    /** A connection was lost or an answer did not come: because of an outage, or because the message breaks the other side. */
    static boolean isBrokenConnection(Throwable failure) {
        return anyCause(
                failure,
                cause -> cause instanceof SocketTimeoutException
                        || cause instanceof SocketException
                        || isNamed(cause, "java.net.http.HttpTimeoutException")
                        || cause instanceof TimeoutException
                        || cause instanceof ClosedChannelException
                        || cause instanceof EOFException);
    }

    /** Whether a database connection was lost, could not be opened, or leads to a former primary, by SQLState. */
    static boolean isDatabaseConnection(Throwable failure) {
        return anyCause(failure, cause -> {
            String state = sqlState(cause);
            return cause instanceof SQLTransientConnectionException
                    || (state != null && (state.startsWith("08") || state.startsWith("57P") || state.equals("25006")));
        });
    }

    private static boolean isConnectFailure(Throwable cause) {
        return cause instanceof ConnectException
                || cause instanceof NoRouteToHostException
                || cause instanceof PortUnreachableException
                || cause instanceof UnknownHostException
                || cause instanceof UnresolvedAddressException
                || isNamed(cause, "java.net.http.HttpConnectTimeoutException")
                || (cause instanceof SocketTimeoutException && isOfConnect(cause));
    }

    /** The JDK has one exception for timeouts of connect and read; only the method that threw it tells them apart. */
    private static boolean isOfConnect(Throwable timeout) {
        for (StackTraceElement frame : timeout.getStackTrace()) {
            String method = frame.getMethodName();
            if (method.equals("connect") || method.equals("finishConnect") || method.equals("timedFinishConnect")) {
                return frame.getClassName().startsWith("java.net.")
                        || frame.getClassName().startsWith("sun.nio.ch.");
            }
            if (method.equals("read") || method.equals("implRead")) {
                return false;
            }
        }
        return false;
    }

    /** By name: the JDK may have been built without its HTTP client. */
    private static boolean isNamed(Throwable cause, String name) {
        return cause.getClass().getName().equals(name);
    }

    private static @Nullable String sqlState(Throwable cause) {
        if (cause instanceof OutboxException ours) {
            return ours.sqlState();
        }
        return cause instanceof SQLException sql ? sql.getSQLState() : null;
    }

    /** An exception that cannot be read shows nothing. */
    private static boolean anyCause(Throwable failure, Predicate<Throwable> test) {
        try {
            @Nullable Throwable cause = failure;
            for (int depth = 0; cause != null && depth < MOST_CAUSES; depth++) {
                if (test.test(cause)) {
                    return true;
                }
                cause = cause.getCause();
            }
        } catch (Throwable e) {
            return false;
        }
        return false;
    }
}
