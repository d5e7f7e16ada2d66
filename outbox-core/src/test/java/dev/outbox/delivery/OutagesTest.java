package dev.outbox.delivery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.outbox.internal.SqlFailure;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpTimeoutException;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class OutagesTest {
    static Stream<Throwable> connectFailures() {
        return Stream.of(
                new ConnectException("refused"),
                new UnknownHostException("broker"),
                new NoRouteToHostException(),
                new HttpConnectTimeoutException("connect"),
                new ExecutionException(new UncheckedIOException(new ConnectException())));
    }

    static Stream<Throwable> brokenConnections() {
        return Stream.of(
                new SocketTimeoutException("Read timed out"),
                new SocketException("Connection reset"),
                new HttpTimeoutException("request"),
                new ExecutionException(new TimeoutException()));
    }

    @ParameterizedTest
    @MethodSource
    void connectFailures(Throwable failure) {
        assertThat(Outages.connectFailures()).accepts(failure);
    }

    @ParameterizedTest
    @MethodSource
    void brokenConnections(Throwable failure) {
        assertThat(Outages.connectFailures()).rejects(failure);
        assertThat(Outages.isBrokenConnection(failure)).isTrue();
    }

    @Test
    void otherFailuresAreNeither() {
        for (Throwable failure :
                new Throwable[] {new IllegalStateException("poison"), new IOException("no such topic")}) {
            assertThat(Outages.connectFailures()).rejects(failure);
            assertThat(Outages.isBrokenConnection(failure)).isFalse();
        }
    }

    @Test
    void aTimeoutOfConnectIsToldFromOneOfRead() throws IOException {
        Throwable refused = catchThrowable(() -> {
            int port;
            try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = closed.getLocalPort();
            }
            try (Socket socket = new Socket()) {
                socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 1_000);
            }
        });
        Throwable connecting = catchThrowable(OutagesTest::connectToAFullBacklog);
        Throwable reading = catchThrowable(() -> {
            try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                    Socket socket = new Socket(InetAddress.getLoopbackAddress(), silent.getLocalPort())) {
                socket.setSoTimeout(1);
                socket.getInputStream().read();
            }
        });

        assertThat(Outages.connectFailures())
                .accepts(refused)
                .accepts(connecting)
                .rejects(reading);
        assertThat(connecting).isInstanceOf(SocketTimeoutException.class);
        assertThat(reading).isInstanceOf(SocketTimeoutException.class);
    }

    /** Nobody accepts, so that connections beyond the backlog are not answered. */
    private static void connectToAFullBacklog() throws IOException {
        try (ServerSocket busy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Socket[] sockets = new Socket[10];
            try {
                for (int i = 0; i < sockets.length; i++) {
                    sockets[i] = new Socket();
                    sockets[i].connect(busy.getLocalSocketAddress(), 100);
                }
            } finally {
                for (Socket socket : sockets) {
                    if (socket != null) {
                        socket.close();
                    }
                }
            }
        }
    }

    @Test
    void aCauseThatGoesInCirclesEnds() {
        Exception one = new IllegalStateException("one");
        one.initCause(new IllegalStateException("two", one));

        assertThat(Outages.connectFailures()).rejects(one);
    }

    @Test
    void lostDatabaseConnectionsAreKnownByTheirSqlState() {
        assertThat(Outages.isDatabaseConnection(new IllegalStateException(new SQLException("", "08006"))))
                .isTrue();
        assertThat(Outages.isDatabaseConnection(new SQLException("", "57P01"))).isTrue();
        assertThat(Outages.isDatabaseConnection(new SQLException("", "25006"))).isTrue();
        assertThat(Outages.isDatabaseConnection(new SQLTransientConnectionException("no connection in 30 s")))
                .isTrue();
        assertThat(Outages.isDatabaseConnection(SqlFailure.of("settle", new SQLException("", "08003"))))
                .isTrue();
        assertThat(Outages.isDatabaseConnection(new SQLException("", "23505"))).isFalse();
        assertThat(Outages.isDatabaseConnection(new IllegalStateException())).isFalse();
    }
}
