package dev.outbox.torture;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/** The network between the children and their database, which can fail. Thread-safe. */
final class FaultProxy implements AutoCloseable {
    /** What swallows bytes: what the database is sent, or what it answers. */
    enum Direction {
        TO_SERVER,
        TO_CLIENT
    }

    /** What happens to the next COMMIT, before the database gets it or after it has answered. */
    enum InCommit {
        RESET_BEFORE,
        RESET_AFTER,
        SWALLOWED_BEFORE,
        SWALLOWED_AFTER
    }

    private static final byte[] COMMITTED = "COMMIT\0".getBytes(StandardCharsets.US_ASCII);
    static final String CHILD = "outbox.child=";

    private final int target;
    private final ServerSocket listener;
    private final Set<Link> links = ConcurrentHashMap.newKeySet();
    private final Map<String, Direction> cutOff = new ConcurrentHashMap<>();
    private final AtomicReference<InCommit> nextCommit = new AtomicReference<>();
    private final Map<InCommit, Integer> hits = new ConcurrentHashMap<>();

    FaultProxy(int target) {
        this.target = target;
        try {
            this.listener = new ServerSocket(0, 200, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        thread(this::accept);
    }

    int port() {
        return listener.getLocalPort();
    }

    /** RST to both ends of every connection. */
    int reset() {
        int count = links.size();
        links.forEach(Link::reset);
        return count;
    }

    /** What a child adds to its URL, so that its connections are known as its. */
    static String option(String child) {
        return "&options=-c%20" + CHILD + child;
    }

    /** From now on everything in this direction vanishes, on old and new connections of this child. */
    void blackHole(String child, Direction direction) {
        cutOff.put(child, direction);
        links.stream().filter(link -> child.equals(link.child)).forEach(link -> link.swallow(direction));
    }

    /** How many children are cut off. */
    int cutOff() {
        return cutOff.size();
    }

    /** New connections of this child work again; those that lost bytes are reset, as by a keep-alive. */
    void heal(String child) {
        cutOff.remove(child);
        links.stream()
                .filter(link -> child.equals(link.child) && link.hole != null)
                .forEach(Link::reset);
    }

    /** Single connections that have lost bytes for so long are reset. */
    void resetHoles(Duration age) {
        long now = System.nanoTime();
        links.stream()
                .filter(link -> link.hole != null && !cutOff.containsKey(String.valueOf(link.child)))
                .filter(link -> now - link.since >= age.toNanos())
                .forEach(Link::reset);
    }

    /** Everything works again. */
    void heal() {
        cutOff.clear();
        nextCommit.set(null);
        links.stream().filter(link -> link.hole != null).forEach(Link::reset);
    }

    /** The next COMMIT on any connection is hit. */
    void hitNextCommit(InCommit how) {
        nextCommit.set(how);
    }

    /** How many were hit so far, in one of these ways. */
    int hits(InCommit... ways) {
        return Arrays.stream(ways).mapToInt(way -> hits.getOrDefault(way, 0)).sum();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket client = listener.accept();
                try {
                    Link link = new Link(client);
                    links.add(link);
                    thread(link::toServer);
                    thread(link::toClient);
                } catch (IOException e) {
                    Link.close(client); // the database is down: so it is for the client
                }
            } catch (IOException e) {
                if (!listener.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private static void thread(Runnable body) {
        Thread thread = new Thread(body, "fault-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        reset();
    }

    /** One connection, seen from between its ends. */
    private final class Link {
        private final Socket client;
        private final Socket server = new Socket();
        private final Commits commits = new Commits();
        private volatile Direction hole;
        private volatile long since;
        private volatile String child;
        private volatile InCommit afterCommit;

        Link(Socket client) throws IOException {
            this.client = client;
            client.setTcpNoDelay(true);
            server.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), target), 2_000);
            server.setTcpNoDelay(true);
        }

        /** From now on. */
        void swallow(Direction direction) {
            since = System.nanoTime();
            hole = direction;
        }

        private void introduce(String name) {
            child = name;
            Direction direction = cutOff.get(name);
            if (direction != null) {
                swallow(direction);
            }
        }

        void toServer() {
            byte[] buffer = new byte[64 * 1024];
            try {
                InputStream in = client.getInputStream();
                OutputStream out = server.getOutputStream();
                for (int count; (count = in.read(buffer)) >= 0; ) {
                    int before = commits.next(buffer, count);
                    if (child == null && commits.child() != null) {
                        introduce(commits.child());
                    }
                    InCommit hit = before < 0 ? null : nextCommit.getAndSet(null);
                    if (hit != null) {
                        hit(hit, out, buffer, before);
                    }
                    if (hole != Direction.TO_SERVER) {
                        out.write(buffer, 0, count);
                    }
                }
                end();
            } catch (IOException e) {
                end();
            }
        }

        private void hit(InCommit how, OutputStream out, byte[] buffer, int before) throws IOException {
            switch (how) {
                case RESET_BEFORE -> {
                    out.write(buffer, 0, before);
                    hits.merge(how, 1, Integer::sum);
                    reset();
                }
                case SWALLOWED_BEFORE -> {
                    out.write(buffer, 0, before);
                    hits.merge(how, 1, Integer::sum);
                    swallow(Direction.TO_SERVER);
                }
                case RESET_AFTER, SWALLOWED_AFTER -> afterCommit = how;
            }
        }

        void toClient() {
            byte[] buffer = new byte[64 * 1024];
            try {
                InputStream in = server.getInputStream();
                OutputStream out = client.getOutputStream();
                for (int count; (count = in.read(buffer)) >= 0; ) {
                    if (afterCommit != null && hole == null && contains(buffer, count, COMMITTED)) {
                        hits.merge(afterCommit, 1, Integer::sum);
                        if (afterCommit == InCommit.RESET_AFTER) {
                            reset();
                        }
                        swallow(Direction.TO_CLIENT);
                    }
                    if (hole != Direction.TO_CLIENT) {
                        out.write(buffer, 0, count);
                    }
                }
                end();
            } catch (IOException e) {
                end();
            }
        }

        /** One end is gone; a black hole does not even tell the other one. */
        private void end() {
            if (hole == null) {
                reset();
            }
        }

        void reset() {
            links.remove(this);
            close(client);
            close(server);
        }

        private static void close(Socket socket) {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException e) {
                // closed already
            }
            try {
                socket.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static boolean contains(byte[] buffer, int count, byte[] word) {
        for (int at = 0; at + word.length <= count; at++) {
            if (Arrays.equals(buffer, at, at + word.length, word, 0, word.length)) {
                return true;
            }
        }
        return false;
    }
}
