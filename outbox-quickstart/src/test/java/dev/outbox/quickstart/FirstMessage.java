package dev.outbox.quickstart;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;

public final class FirstMessage {
    public static void main(String[] args) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(args[0]);
        try (HikariDataSource dataSource = new HikariDataSource(config)) {
            OutboxMigrations.installIfMissing(dataSource);
            Outbox outbox = PostgresOutbox.create(dataSource);

            CountDownLatch delivered = new CountDownLatch(1);
            Destination destination = item -> {
                System.out.println(item.topic() + " for " + item.key() + ": " + item.payload());
                delivered.countDown();
            };

            try (Poller poller = outbox.poller().to(destination).start()) {
                try (Connection tx = dataSource.getConnection()) {
                    tx.setAutoCommit(false);
                    Message message =
                            Message.to("orders.placed").key("customer-1").payload("one book");
                    outbox.enqueue(tx, message);
                    tx.commit();
                }
                poller.wakeUp();
                delivered.await();
            }
        }
    }
}
