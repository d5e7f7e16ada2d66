package dev.outbox.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The network between a test and its database, which can fail. */
final class TcpProxy implements AutoCloseable {
    private final URI target;
    private final ServerSocket server;
    private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
    private volatile boolean down;

    /** @param jdbcUrl where the database really is */
    TcpProxy(String jdbcUrl) throws IOException {
        this.target = URI.create(jdbcUrl.substring("jdbc:".length()));
        this.server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(this::accept);
    }

    /** The same database by way of this proxy. */
    String jdbcUrl() {
        return "jdbc:" + target.toString().replace(target.getAuthority(), "127.0.0.1:" + server.getLocalPort());
    }

    /** Breaks all connections and takes no new ones. */
    void cut() {
        down = true;
        sockets.forEach(TcpProxy::close);
        sockets.clear();
    }

    void restore() {
        down = false;
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket client = server.accept();
                if (down) {
                    client.close();
                } else {
                    connect(client);
                }
            } catch (IOException e) {
                if (!server.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void connect(Socket client) throws IOException {
        Socket database = new Socket(target.getHost(), target.getPort());
        client.setTcpNoDelay(true);
        database.setTcpNoDelay(true);
        sockets.add(client);
        sockets.add(database);
        thread(() -> pump(client, database));
        thread(() -> pump(database, client));
        if (down) {
            cut();
        }
    }

    private void pump(Socket from, Socket to) {
        try (InputStream in = from.getInputStream();
                OutputStream out = to.getOutputStream()) {
            in.transferTo(out);
        } catch (IOException e) {
            // cut
        } finally {
            close(from);
            close(to);
            sockets.remove(from);
            sockets.remove(to);
        }
    }

    private static void thread(Runnable body) {
        Thread thread = new Thread(body, "tcp-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    private static void close(Socket socket) {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        cut();
    }
}
