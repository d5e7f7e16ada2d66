package dev.outbox.postgres;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.ConnectException;
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
    private final Set<Socket> silent = ConcurrentHashMap.newKeySet();
    private volatile boolean down;
    private volatile int port;

    /** @param jdbcUrl where the database really is */
    TcpProxy(String jdbcUrl) throws IOException {
        this.target = URI.create(jdbcUrl.substring("jdbc:".length()));
        this.port = target.getPort();
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

    /** Connections made so far carry nothing any more, and stay open; new ones work. */
    void silence() {
        silent.addAll(sockets);
    }

    /** New connections lead to the server at this port; those made so far stay. */
    void lead(int port) {
        this.port = port;
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
        Socket database;
        try {
            database = new Socket(target.getHost(), port);
        } catch (ConnectException e) {
            client.close(); // nobody is there
            return;
        }
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
            byte[] bytes = new byte[8_192];
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                if (!silent.contains(from)) { // what is sent is taken, as by a network that drops it
                    out.write(bytes, 0, read);
                    out.flush();
                }
            }
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
