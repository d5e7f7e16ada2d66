package dev.outbox.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Connections that get no answer any more and are never told so; the driver has no timeout. */
class SilentNetworkIT {
    private final OutboxDatabase database = new OutboxDatabase();

    @AfterEach
    void close() {
        database.close();
    }

    @Test
    void aPollerGoesOnAlthoughItsConnectionsHaveGoneSilent() throws IOException {
        String table = database.newTable();
        Outbox outside = PostgresOutbox.builder(database.pool()).table(table).build();
        Set<String> delivered = ConcurrentHashMap.newKeySet();
        CountDownLatch silent = new CountDownLatch(1);
        try (TcpProxy network = new TcpProxy(database.server().jdbcUrl());
                HikariDataSource pool = pool(network)) {
            assertThat(pool.getJdbcUrl()).contains("socketTimeout=0");
            Outbox outbox = PostgresOutbox.builder(pool).table(table).build();
            try (Poller poller = outbox.poller()
                    .to(item -> {
                        delivered.add(item.messageId());
                        if (delivered.size() > 10) {
                            silent.await(); // so that the last settle before has an answer, and the next has none
                        }
                    })
                    .lease(Duration.ofSeconds(3))
                    .drainTimeout(Duration.ofSeconds(1))
                    .start()) {
                assertThat(poller.isRunning()).isTrue();
                store(outside, 0, 20);
                await().until(() -> delivered.size() > 10);

                network.silence();
                silent.countDown();
                store(outside, 20, 100);

                await().until(() -> database.statuses(table).equals(Map.of(Status.DONE, 100L)));
                assertThat(delivered).hasSize(100);
            }
        }
    }

    private void store(Outbox outbox, int from, int to) {
        database.commit(
                outbox,
                IntStream.range(from, to)
                        .mapToObj(i -> Message.to("t").id("m-" + i).payload(""))
                        .toList());
    }

    private static HikariDataSource pool(TcpProxy network) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(network.jdbcUrl());
        config.setMaximumPoolSize(4);
        config.setValidationTimeout(500);
        return new HikariDataSource(config);
    }
}
