package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.event.OutboxEvent;
import dev.outbox.migrations.OutboxMigrations;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that is stopped and started again while messages are on their way. */
class DatabaseRestartIT {
    private static final int MESSAGES = 200;

    @TempDir
    Path data;

    @Test
    void everythingIsDeliveredAlthoughTheDatabaseRestartsMidFlight() throws IOException, SQLException {
        EmbeddedPostgres server = start(0);
        int port = server.getPort();
        try (HikariDataSource pool = pool(server)) {
            OutboxMigrations.install(pool);
            Set<String> delivered = ConcurrentHashMap.newKeySet();
            Set<Class<?>> events = ConcurrentHashMap.newKeySet();
            Outbox outbox = PostgresOutbox.builder(pool)
                    .listener(event -> events.add(event.getClass()))
                    .build();
            List<Message> messages = IntStream.range(0, MESSAGES)
                    .mapToObj(i -> Message.to("t")
                            .id("m-" + i)
                            .key(i % 2 == 0 ? null : "k" + i % 10)
                            .payload(""))
                    .toList();
            outbox.transaction(pool, tx -> outbox.enqueueAll(tx, messages));
            CountDownLatch down = new CountDownLatch(1);

            Poller poller = outbox.poller()
                    .lease(Duration.ofSeconds(2))
                    .batchSize(20)
                    .to(item -> {
                        delivered.add(item.messageId());
                        if (delivered.size() > 10) {
                            down.await(); // deliveries are under way when the server goes
                        }
                    })
                    .start();
            await().until(() -> delivered.size() > 10);
            server.close();
            down.countDown();
            await().atMost(Duration.ofMinutes(2)).until(() -> events.contains(OutboxEvent.PollFailed.class));
            server = start(port);
            await().atMost(Duration.ofMinutes(2)).until(() -> done(pool) == MESSAGES);
            poller.close();

            assertThat(delivered).hasSize(MESSAGES);
        } finally {
            server.close();
        }
    }

    private EmbeddedPostgres start(int port) throws IOException {
        EmbeddedPostgres.Builder builder =
                EmbeddedPostgres.builder().setDataDirectory(data.resolve("pg")).setCleanDataDirectory(false);
        return (port == 0 ? builder : builder.setPort(port)).start();
    }

    private static HikariDataSource pool(EmbeddedPostgres server) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.getJdbcUrl("postgres", "postgres"));
        config.setMaximumPoolSize(4);
        config.setConnectionTimeout(1_000);
        return new HikariDataSource(config);
    }

    private static long done(HikariDataSource pool) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery("SELECT count(*) FROM outbox WHERE status = 2")) {
            count.next();
            return count.getLong(1);
        } catch (SQLException e) {
            return -1; // not back yet
        }
    }
}
