package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.TestSql;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;

/**
 * A shop with a table of orders, an outbox, and a poller whose idle pause is an hour: it delivers a message only if it was
 * woken. A message's payload is the id of its order.
 */
final class Shop implements AutoCloseable {
    private static final Duration HOUR = Duration.ofHours(1);

    private static final HikariDataSource DATABASE = database();
    private static final TestSql SQL = TestSql.on(DATABASE);

    private final Outbox outbox;
    private final Poller poller;
    private final BlockingQueue<String> delivered = new LinkedBlockingQueue<>();

    Shop() {
        SQL.execute("TRUNCATE orders, outbox, inbox");
        outbox = PostgresOutbox.create(DATABASE);
        // Stored before the start and delivered by the first claim; then the poller sleeps.
        outbox.transaction(
                DATABASE, tx -> outbox.enqueue(tx, Message.to("shop.opened").payload("")));
        poller = outbox.poller().to(this::deliver).idle(HOUR, HOUR).start();
        assertThat(delivered(1)).containsExactly("shop.opened");
    }

    /** One database for all shops, which run one after the other. It ends with the JVM. */
    private static HikariDataSource database() {
        HikariDataSource dataSource = EmbeddedDatabase.create().pool(8);
        OutboxMigrations.install(dataSource);
        OutboxMigrations.installInbox(dataSource);
        TestSql.on(dataSource).execute("CREATE TABLE orders (id text PRIMARY KEY)");
        return dataSource;
    }

    static DataSource dataSource() {
        return DATABASE;
    }

    Outbox outbox() {
        return outbox;
    }

    private void deliver(WorkItem item) {
        String order = item.payload();
        if (item.topic().equals("shop.opened")) {
            delivered.add("shop.opened");
        } else if (orders().contains(order)) {
            delivered.add(order);
        } else {
            delivered.add(order + ", but no such order is committed");
        }
    }

    /** The payloads of the next {@code count} deliveries. Returns when the poller sleeps again. */
    List<String> delivered(int count) {
        List<String> payloads = new ArrayList<>();
        while (payloads.size() < count) {
            try {
                String next = delivered.poll(180, TimeUnit.SECONDS);
                assertThat(next)
                        .as("delivery after %s; was nobody woken?", payloads)
                        .isNotNull();
                payloads.add(next);
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted while waiting for a delivery", e);
            }
        }
        await().pollInterval(Duration.ofMillis(5)).until(() -> isAsleep(poller));
        return payloads;
    }

    /** A poller claims once more after a claim that found something; wait until it sleeps. */
    private static boolean isAsleep(Poller poller) {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("outbox-" + poller.name() + "-claim"))
                .flatMap(thread -> Stream.of(thread.getValue()))
                .anyMatch(frame -> frame.getClassName().equals("dev.outbox.delivery.Signal")
                        && frame.getMethodName().equals("await"));
    }

    /** The committed orders, sorted. */
    List<String> orders() {
        return SQL.query("SELECT id FROM orders ORDER BY id");
    }

    /** The orders of the committed messages, delivered or not, sorted. */
    List<String> messages() {
        return SQL.query("SELECT payload FROM outbox WHERE topic <> 'shop.opened' ORDER BY payload");
    }

    /** The ids of the messages that the inbox knows, sorted. */
    List<String> received() {
        return SQL.query("SELECT message_id FROM inbox ORDER BY message_id");
    }

    /** Asserts that exactly these orders are committed, each with its message. */
    void assertCommitted(String... orders) {
        assertThat(orders()).containsExactly(orders);
        assertThat(messages()).containsExactly(orders);
    }

    @Override
    public void close() {
        poller.close();
    }
}
