package dev.outbox.evolution;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.TransactionalDestination;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Old and new versions of an application at work on the same two tables. Each order that is placed has one effect, by
 * way of the outbox and the inbox, whichever version carries it. Messages arrive more than once.
 */
final class LiveApplications implements AutoCloseable {
    static final String CONSUMER = "billing";

    private static final String SHOP = "shop";

    /** Handled at the edge of the consumer, put into its queue, or refused by everybody. */
    private static final String EDGE = "edge";

    private static final String QUEUE = "queue";
    private static final String POISON = "poison";

    private static final int MOST_ON_THEIR_WAY = 300;

    private final DataSource dataSource;
    private final OldApplication oldOutbox;
    private final OldInbox oldInbox;
    private final List<Node> nodes = new ArrayList<>();
    private final List<Thread> oldThreads = new ArrayList<>();
    private final List<Thread> producers = new ArrayList<>();
    private volatile boolean oldStopped;
    private volatile boolean producersStopped;
    private volatile boolean keyed;

    final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    final AtomicInteger placed = new AtomicInteger();
    final AtomicInteger carriedOut = new AtomicInteger();

    /** How many arrivals each version has carried to the inbox. */
    final AtomicInteger arrivals = new AtomicInteger();

    final AtomicInteger oldArrivals = new AtomicInteger();

    /** The numbers of each key's messages in the order of their first delivery. */
    final Map<String, Queue<Integer>> deliveredByKey = new ConcurrentHashMap<>();

    /** An instance of the new version. */
    private record Node(Outbox outbox, Inbox inbox, List<Poller> pollers) {}

    LiveApplications(DataSource dataSource, Spelling spelling) {
        this.dataSource = dataSource;
        this.oldOutbox = new OldApplication(spelling, "outbox");
        this.oldInbox = new OldInbox(spelling, "inbox");
    }

    void start() {
        for (int i = 0; i < 2; i++) {
            nodes.add(node());
        }
        for (int i = 0; i < nodes.size(); i++) {
            Node node = nodes.get(i);
            Random random = new Random(i);
            String name = "new-" + i;
            int[] numbers = new int[3];
            producers.add(start(name, () -> place(node, name, random, numbers)));
        }
        Random random = new Random(7);
        oldThreads.add(start("old-producer", () -> placeOld(random)));
        oldThreads.add(start("old-outbox", () -> carryOld(random)));
        oldThreads.add(start("old-inbox", this::handleOld));
    }

    private Node node() {
        Outbox outbox = PostgresOutbox.builder(dataSource)
                .refreshInterval(Duration.ofMillis(50))
                .build();
        Inbox inbox = PostgresInbox.builder(dataSource)
                .consumer(CONSUMER)
                .refreshInterval(Duration.ofMillis(50))
                .build();
        List<Poller> pollers = List.of(
                outbox.poller().to(item -> deliver(inbox, item)).concurrency(2).start(),
                inbox.poller()
                        .inTransaction(TransactionalDestination.byTopic()
                                .route(QUEUE, (tx, item) -> carryOut(tx, item.payload())))
                        .concurrency(2)
                        .start());
        return new Node(outbox, inbox, pollers);
    }

    private interface Turn {
        void take() throws Exception;
    }

    private Thread start(String name, Turn turn) {
        Thread thread = new Thread(
                () -> {
                    try {
                        while (!(name.startsWith("old") ? oldStopped : producersStopped)) {
                            turn.take();
                        }
                    } catch (Exception e) {
                        failures.add(new IllegalStateException(name + " failed", e));
                    }
                },
                name);
        thread.start();
        return thread;
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private void transaction(Work work) throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            try {
                work.in(tx);
                tx.commit();
            } finally {
                tx.rollback();
                tx.setAutoCommit(true);
            }
        }
    }

    private void insert(Connection tx, String table, String value) throws SQLException {
        try (PreparedStatement insert = tx.prepareStatement("INSERT INTO " + table + " VALUES (?)")) {
            insert.setString(1, value);
            insert.executeUpdate();
        }
    }

    private void waitForRoom() {
        while (placed.get() - carriedOut.get() > MOST_ON_THEIR_WAY && !producersStopped) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static String topic(Random random) {
        int dice = random.nextInt(20);
        return dice == 0 ? POISON : dice < 10 ? EDGE : QUEUE;
    }

    private void place(Node node, String producer, Random random, int[] numbers) throws SQLException {
        waitForRoom();
        String topic = topic(random);
        int key = random.nextInt(numbers.length);
        boolean ordered = keyed && !topic.equals(POISON);
        String order = ordered
                ? producer + "-" + key + ":" + ++numbers[key]
                : UUID.randomUUID().toString();
        Message message = Message.to(topic).payload(order);
        transaction(tx -> {
            insert(tx, topic.equals(POISON) ? "refused" : "orders", order);
            node.outbox().enqueue(tx, ordered ? message.key(producer + "-" + key) : message);
        });
        if (!topic.equals(POISON)) {
            placed.incrementAndGet();
        }
    }

    private void placeOld(Random random) throws SQLException {
        waitForRoom();
        String topic = topic(random);
        String order = UUID.randomUUID().toString();
        transaction(tx -> {
            insert(tx, topic.equals(POISON) ? "refused" : "orders", order);
            oldOutbox.enqueue(tx, topic, order, null, random.nextInt(5) == 0 ? 20L : null);
        });
        if (!topic.equals(POISON)) {
            placed.incrementAndGet();
        }
    }

    private void deliver(Inbox inbox, WorkItem item) throws Exception {
        if (item.topic().equals(POISON)) {
            throw new PermanentFailureException("refused");
        }
        @Nullable String key = item.key();
        if (key != null && item.attempt() == 1) {
            deliveredByKey
                    .computeIfAbsent(key, k -> new ConcurrentLinkedQueue<>())
                    .add(Integer.valueOf(item.payload().substring(key.length() + 1)));
        }
        arrive(inbox, item);
        if (Math.floorMod(item.messageId().hashCode(), 4) == 0) {
            arrive(inbox, item);
        }
    }

    private void arrive(Inbox inbox, WorkItem item) throws SQLException {
        Incoming incoming = Incoming.from(SHOP, item.messageId()).payload(item.payload());
        try {
            transaction(tx -> {
                if (item.topic().equals(QUEUE)) {
                    inbox.enqueue(tx, incoming.topic(QUEUE));
                } else if (inbox.receive(tx, incoming).isFirst()) {
                    carryOut(tx, item.payload());
                }
            });
        } catch (SQLException | RuntimeException e) {
            failures.add(
                    new IllegalStateException("an arrival failed", e)); // the poller would try again, and nobody know
            throw e;
        }
        arrivals.incrementAndGet();
    }

    private void carryOut(Connection tx, String order) throws SQLException {
        insert(tx, "effects", order);
        carriedOut.incrementAndGet();
    }

    private void carryOld(Random random) throws SQLException {
        UUID owner = UUID.randomUUID();
        List<OldApplication.Claimed> claimed = new ArrayList<>();
        transaction(tx -> claimed.addAll(oldOutbox.claim(tx, owner, 10)));
        for (OldApplication.Claimed message : claimed) {
            transaction(tx -> {
                if (message.topic().equals(POISON)) {
                    oldOutbox.fail(tx, owner, message.id(), "refused");
                } else if (random.nextInt(10) == 0) {
                    oldOutbox.reschedule(tx, owner, message.id(), "not now", 20);
                } else {
                    arriveOld(tx, message);
                    oldArrivals.incrementAndGet();
                    oldOutbox.acknowledge(tx, owner, message.id());
                }
            });
        }
    }

    private void arriveOld(Connection tx, OldApplication.Claimed message) throws SQLException {
        String id = message.messageId().toString();
        if (message.topic().equals(QUEUE)) {
            oldInbox.enqueue(tx, QUEUE, SHOP, id, message.payload(), null);
        } else if (!oldInbox.alreadyProcessed(tx, id, SHOP, null)) {
            oldInbox.markProcessing(tx, id);
            carryOut(tx, message.payload());
            oldInbox.markProcessed(tx, id);
        }
    }

    private void handleOld() throws SQLException {
        UUID owner = UUID.randomUUID();
        List<OldInbox.Claimed> claimed = new ArrayList<>();
        transaction(tx -> claimed.addAll(oldInbox.claim(tx, owner, 10)));
        for (OldInbox.Claimed message : claimed) {
            transaction(tx -> {
                if (oldInbox.acknowledge(tx, owner, message.messageId())) {
                    carryOut(tx, String.valueOf(message.payload()));
                }
            });
        }
    }

    static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** The last instance of the old version is taken down. */
    void stopOld() {
        oldStopped = true;
        oldThreads.forEach(LiveApplications::join);
    }

    /** Whether every instance of the new version takes keys. */
    boolean takesKeys() throws SQLException {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            try {
                for (Node node : nodes) {
                    node.outbox().enqueue(tx, Message.to("probe").key("probe").payload(""));
                    node.inbox()
                            .enqueue(
                                    tx,
                                    Incoming.from("probe", "probe")
                                            .topic("probe")
                                            .key("probe")
                                            .payload(""));
                }
                return true;
            } catch (OutboxException e) {
                return false;
            } finally {
                tx.rollback();
                tx.setAutoCommit(true);
            }
        }
    }

    void useKeys() {
        keyed = true;
    }

    void stopProducers() {
        producersStopped = true;
        producers.forEach(LiveApplications::join);
    }

    @Override
    public void close() {
        producersStopped = true; // nobody waits for room
        stopOld();
        stopProducers();
        nodes.forEach(node -> node.pollers().forEach(Poller::close));
    }
}
