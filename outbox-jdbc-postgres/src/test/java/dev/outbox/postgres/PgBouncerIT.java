package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.event.OutboxEvent;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Everything through a PgBouncer that gives each transaction whatever server connection is free. */
@Timeout(60)
class PgBouncerIT {
    private static final int SERVER_CONNECTIONS = 2;

    @TempDir
    Path directory;

    private final EmbeddedDatabase database = EmbeddedDatabase.create();
    private final List<AutoCloseable> closing = new ArrayList<>();
    private PgBouncer bouncer;

    @BeforeAll
    static void bePatient() {
        Awaitility.setDefaultTimeout(Duration.ofMinutes(2));
    }

    @BeforeEach
    void start() throws Exception {
        bouncer = PgBouncer.inTransactionMode(database, SERVER_CONNECTIONS, directory);
        OutboxMigrations.installIfMissing(bouncer.dataSource());
    }

    @AfterEach
    void stop() throws Exception {
        for (int i = closing.size() - 1; i >= 0; i--) {
            closing.get(i).close();
        }
        if (bouncer != null) {
            bouncer.close();
        }
        database.close();
    }

    @Test
    void manyWritersAndPollersShareTwoServerConnectionsAndKeysStayInOrder() throws Exception {
        int writers = 4;
        int transactions = 50;
        int perTransaction = 10;
        execute("CREATE TABLE commits (key text PRIMARY KEY, n int NOT NULL)");
        execute("INSERT INTO commits SELECT 'key ' || k, 0 FROM generate_series(0, 4) k");
        HikariDataSource pool = pool(12);
        Outbox outbox = PostgresOutbox.create(pool);
        AtomicInteger count = new AtomicInteger();
        Map<String, Integer> numbers = new ConcurrentHashMap<>();
        Map<String, Queue<String>> ids = new ConcurrentHashMap<>();
        for (int i = 0; i < 3; i++) {
            closing.add(outbox.poller()
                    .to(item -> {
                        ids.computeIfAbsent(String.valueOf(item.key()), key -> new ConcurrentLinkedQueue<>())
                                .add(item.messageId());
                        count.incrementAndGet();
                    })
                    .start());
        }

        ExecutorService executor = Executors.newFixedThreadPool(writers);
        closing.add(executor::shutdownNow);
        List<Future<?>> writing = new ArrayList<>();
        for (int w = 0; w < writers; w++) {
            int writer = w;
            writing.add(executor.submit(() -> {
                for (int t = 0; t < transactions; t++) {
                    String key = "key " + (writer + t) % 5;
                    outbox.transaction(pool, tx -> {
                        List<Message> messages = new ArrayList<>();
                        for (int m = 0; m < perTransaction; m++) {
                            Message message = Message.to("orders.placed").payload("{}");
                            messages.add(m % 2 == 0 ? message.key(key) : message);
                        }
                        List<String> stored = outbox.enqueueAll(tx, messages).stored();
                        int commit = nextCommit(tx, key);
                        stored.forEach(id -> numbers.put(id, commit));
                        return null;
                    });
                }
                return null;
            }));
        }
        for (Future<?> each : writing) {
            each.get();
        }
        int all = writers * transactions * perTransaction;
        await().until(() -> count.get() >= all);

        assertThat(all).isEqualTo(2_000);
        ids.remove("null");
        assertThat(ids).hasSize(5);
        ids.forEach((key, order) -> assertThat(order.stream().map(numbers::get))
                .as("commits of %s in the order of delivery", key)
                .isSorted());
        await().until(() -> status(2) == all);
        assertThat(outbox.purge(Duration.ZERO)).isEqualTo(all);
    }

    @Test
    void leasesAreRenewedAndTransactionsOfHandlersKept() {
        execute("CREATE TABLE effects (id text)");
        Outbox outbox = PostgresOutbox.create(pool(4));
        CountDownLatch renewed = new CountDownLatch(1);
        closing.add(outbox.poller()
                .inTransaction((tx, item) -> {
                    try (PreparedStatement insert = tx.prepareStatement("INSERT INTO effects VALUES (?)")) {
                        insert.setString(1, item.messageId());
                        insert.execute();
                    }
                    renewed.await();
                })
                .lease(Duration.ofSeconds(2))
                .listener(event -> {
                    if (event instanceof OutboxEvent.Renewed) {
                        renewed.countDown();
                    }
                })
                .start());

        outbox.transaction(
                bouncer.dataSource(),
                tx -> outbox.enqueue(tx, Message.to("orders.placed").key("1").payload("{}")));

        await().until(() -> status(2) == 1);
        assertThat(number("SELECT count(*) FROM effects")).isEqualTo(1);
    }

    @Test
    void listenThroughItIsFoundOutAndPollingDelivers() {
        try (CapturedLog log = new CapturedLog()) {
            Outbox outbox = PostgresOutbox.builder(pool(4))
                    .notify(bouncer.dataSource())
                    .wakesLocally(false)
                    .build();
            AtomicInteger delivered = new AtomicInteger();
            closing.add(outbox.poller()
                    .to(item -> delivered.incrementAndGet())
                    .idle(Duration.ofMillis(50), Duration.ofMillis(50))
                    .start());
            await().until(() -> log.warnings("is sent but not received").size() == 1);

            outbox.transaction(
                    bouncer.dataSource(),
                    tx -> outbox.enqueue(tx, Message.to("orders.placed").payload("{}")));

            await().until(() -> delivered.get() == 1);
            assertThat(log.warnings("transaction mode (PgBouncer)")).hasSize(1);
        }
    }

    private HikariDataSource pool(int size) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(bouncer.dataSource());
        config.setMaximumPoolSize(size);
        HikariDataSource pool = new HikariDataSource(config);
        closing.add(pool);
        return pool;
    }

    /** Drawn inside the transaction after its messages: their locks make it the order of commits per key. */
    private static int nextCommit(Connection tx, String key) throws SQLException {
        try (PreparedStatement next = tx.prepareStatement("UPDATE commits SET n = n + 1 WHERE key = ? RETURNING n")) {
            next.setString(1, key);
            try (ResultSet row = next.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    private int status(int status) {
        return number("SELECT count(*) FROM outbox WHERE status = " + status);
    }

    private int number(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getInt(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void execute(String sql) {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
