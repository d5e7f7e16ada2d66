package dev.outbox.torture;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A producer: threads that each store messages in transactions of all sizes, together with a business row, and now
 * and then roll back. A transaction whose commit nobody knows of is run again under the same ids, until it is known.
 * On stdin it is told {@code stop} or {@code clock MILLIS}.
 */
final class ProducerMain {
    private static final int THREADS = 3;
    private static final int KEYS = 150;

    /** One transaction in so many is a storm of poison. */
    private static final int STORM_ONE_IN = 15;

    /**
     * So many huge messages are committed together. However the workers share them, one of the claims has too many for
     * the heap if only their count bounds it. While a claim is read, each takes twice its size.
     */
    private static final int HUGE_MESSAGES = 150;

    /** One transaction in so many of one thread, and its first, has huge messages. */
    private static final int HUGE_ONE_IN = 100;

    private final ChildSettings settings;
    private final HikariDataSource pool;
    private final Outbox outbox;
    private final History history;
    private final CountDownLatch stop;
    private volatile boolean room = true;

    private ProducerMain(
            ChildSettings settings, HikariDataSource pool, Outbox outbox, History history, CountDownLatch stop) {
        this.settings = settings;
        this.pool = pool;
        this.outbox = outbox;
        this.history = history;
        this.stop = stop;
    }

    public static void main(String[] arguments) throws InterruptedException {
        ChildSettings settings = ChildSettings.fromProperties();
        HikariDataSource pool = ChildProcess.pool(settings);
        CountDownLatch stop = new CountDownLatch(1);
        History history = new History(settings.history());
        ChildProcess.listen(line -> {
            if (line.equals("stop")) {
                stop.countDown();
            } else if (line.startsWith("clock ")) {
                ChildProcess.jump(history, Duration.ofMillis(Long.parseLong(line.substring(6))));
            }
        });
        Variant variant = Variant.named(settings.variant());
        Outbox outbox = ChildProcess.untilItWorks(() -> PostgresOutbox.builder(pool)
                .table(settings.tables().outbox())
                .ordering(variant.ordering())
                .refreshInterval(Migration.REFRESH)
                .build());
        ProducerMain producer = new ProducerMain(settings, pool, variant.outbox(outbox, pool), history, stop);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            int number = i;
            Thread thread = new Thread(() -> producer.run(number), "producer-" + number);
            thread.start();
            threads.add(thread);
        }
        producer.watchBacklog();
        for (Thread thread : threads) {
            thread.join();
        }
        System.exit(0);
    }

    private void run(int number) {
        Random random = new Random(settings.seed() * 31 + number);
        try {
            for (int count = 0; stop.getCount() > 0; count++) {
                while (!room && !stop.await(10, TimeUnit.MILLISECONDS)) {
                    continue;
                }
                String tx = settings.name() + "-" + number + "-" + count;
                List<Message> messages = messages(tx, random);
                boolean rollsBack = random.nextInt(12) == 0 && !isHuge(tx);
                history.write("attempted", tx, messages.size());
                while (!attempt(tx, messages, rollsBack, random)) {
                    if (stop.await(10, TimeUnit.MILLISECONDS)) {
                        return; // it stays unknown
                    }
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Lets nobody produce while the backlog is too long to be worked off soon after the turn. */
    private void watchBacklog() throws InterruptedException {
        do {
            try (Connection connection = pool.getConnection();
                    PreparedStatement count = connection.prepareStatement("SELECT (SELECT count(*) FROM "
                            + settings.tables().outbox() + " WHERE status < 2) + (SELECT count(*) FROM "
                            + settings.tables().inbox() + " WHERE status < 2)");
                    ResultSet row = count.executeQuery()) {
                row.next();
                room = row.getLong(1) < settings.backlog();
            } catch (SQLException e) {
                room = false; // until it is known again
            }
        } while (!stop.await(150, TimeUnit.MILLISECONDS));
    }

    private List<Message> messages(String tx, Random random) {
        if (isHuge(tx)) {
            return hugeMessages(tx);
        }
        int count = random.nextInt(20) == 0 ? 1 : 1 + random.nextInt(120);
        boolean storm = isStorm(tx);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            boolean hot = random.nextInt(settings.has(Fault.HOT_KEY) ? 3 : 40) == 0;
            int key = hot ? 0 : 1 + random.nextInt(KEYS);
            boolean keyed = (hot || random.nextInt(10) < 6) && !settings.has(Fault.MIGRATION);
            // all messages of a key take the same way, or their effects could not be compared
            boolean queued = keyed ? key % 20 == 1 : random.nextInt(20) == 0;
            messages.add(Message.to(queued ? Consumer.QUEUE : Consumer.EDGE)
                    .id(settings.has(Fault.MIGRATION) ? Evidence.asUuid(tx + "-" + i) : tx + "-" + i)
                    .key(keyed ? "key-" + key : null)
                    .payload((storm ? Payload.inAStorm(random) : Payload.random(random, settings, hot)).name()));
        }
        if (tx.endsWith("-0-0")) { // one at least
            if (settings.has(Fault.POISON)) {
                messages.set(0, messages.get(0).key(null).payload(Payload.KILLS.name()));
            } else if (settings.has(Fault.HOT_KEY)) {
                messages.set(
                        0, Message.to(Consumer.EDGE).id(tx + "-0").key("key-0").payload(Payload.POISON.name()));
            }
        }
        return messages;
    }

    private static int count(String tx) {
        return Integer.parseInt(tx.substring(tx.lastIndexOf('-') + 1));
    }

    private boolean isStorm(String tx) {
        return settings.has(Fault.POISON_STORM) && !isHuge(tx) && count(tx) % STORM_ONE_IN == 1;
    }

    private boolean isHuge(String tx) {
        return settings.has(Fault.HUGE_PAYLOADS)
                && tx.startsWith(settings.name() + "-1-")
                && count(tx) % HUGE_ONE_IN == 0;
    }

    private static List<Message> hugeMessages(String tx) {
        String payload = Payload.FINE.hugeText();
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < HUGE_MESSAGES; i++) {
            messages.add(Message.to(Consumer.EDGE).id(tx + "-" + i).payload(payload));
        }
        return messages;
    }

    private void writeInjected(String tx) {
        if (isStorm(tx)) {
            history.write("injected", Fault.POISON_STORM);
        }
        if (isHuge(tx)) {
            history.write("injected", Fault.HUGE_PAYLOADS);
        }
    }

    /** Half of the transactions are of an application that knows only the old columns, until nobody may any more. */
    private boolean isOldFashioned(Connection connection, String tx) throws SQLException {
        if (tx.hashCode() % 2 != 0) {
            return false;
        }
        try (PreparedStatement marker =
                connection.prepareStatement("SELECT COALESCE(obj_description(?::regclass), 'phase 0')")) {
            marker.setString(1, settings.tables().outbox());
            try (ResultSet row = marker.executeQuery()) {
                row.next();
                return row.getString(1).matches("(?s).*phase [01].*");
            }
        }
    }

    private void enqueueAsEver(Connection connection, List<Message> messages) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "INSERT INTO " + settings.tables().outbox() + " (message_id, topic, payload) VALUES (?, ?, ?)")) {
            for (Message message : messages) {
                insert.setString(1, message.id());
                insert.setString(2, message.topic());
                insert.setString(3, message.payload());
                insert.addBatch();
            }
            insert.executeBatch();
        }
    }

    /** Whether its outcome is known. */
    private boolean attempt(String tx, List<Message> messages, boolean rollsBack, Random random) {
        boolean committing = false;
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            try {
                boolean happened;
                try (PreparedStatement insert = connection.prepareStatement(
                        "INSERT INTO " + settings.tables().orders() + " (tx) VALUES (?) ON CONFLICT DO NOTHING")) {
                    insert.setString(1, tx);
                    happened = insert.executeUpdate() == 0;
                }
                if (settings.has(Fault.MIGRATION) && (happened || isOldFashioned(connection, tx))) {
                    if (!happened) { // an old application knows no better way
                        enqueueAsEver(connection, messages);
                    }
                } else if (isHuge(tx)) { // one statement with all of them would not fit into the heap
                    messages.forEach(message -> outbox.enqueue(connection, message));
                } else if (settings.has(Fault.DEADLOCK) && messages.size() < 20) {
                    List<Message> anyOrder = new ArrayList<>(messages);
                    Collections.shuffle(anyOrder, random);
                    anyOrder.forEach(message -> outbox.enqueue(connection, message));
                } else {
                    outbox.enqueueAll(connection, messages);
                }
                if (rollsBack) {
                    connection.rollback();
                    history.write("rolled-back", tx);
                } else {
                    committing = true;
                    connection.commit();
                    history.write("committed", tx);
                    writeInjected(tx);
                }
                return true;
            } catch (SQLException | OutboxException e) {
                try {
                    connection.rollback();
                } catch (SQLException again) {
                    e.addSuppressed(again);
                }
                throw e;
            }
        } catch (SQLException | OutboxException e) {
            // before the commit was sent nothing can have happened, and the same transaction is run again all the same
            if (committing) {
                history.write("unknown", tx);
            }
            history.write(
                    "failed",
                    e.getClass().getSimpleName(),
                    String.valueOf(e.getMessage()).replace('\n', ' '));
            return false;
        }
    }
}
