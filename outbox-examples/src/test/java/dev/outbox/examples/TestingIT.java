package dev.outbox.examples;

import static dev.outbox.testkit.OutboxAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Outbox;
import dev.outbox.delivery.Poller;
import dev.outbox.delivery.RetryPolicy;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.OutboxTable;
import dev.outbox.testkit.PostgresExtension;
import dev.outbox.testkit.RecordingDestination;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code of docs/how-to/test-your-code.md that needs a database. */
class TestingIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        OutboxMigrations.install(dataSource);
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE orders (id text PRIMARY KEY)");
        }
    });

    @Test
    void anOrderIsAnnounced(DataSource dataSource) throws SQLException {
        Outbox outbox = PostgresOutbox.create(dataSource);
        RecordingDestination broker = RecordingDestination.create();

        new PlainJdbcOrders(dataSource, outbox).placeWithHelper("book");
        outbox.poller().to(broker).build().pollOnce();

        assertThat(broker.deliveries())
                .singleElement()
                .satisfies(item -> assertThat(item.payload()).isEqualTo("book"));
        assertThat(OutboxTable.in(dataSource)).hasDelivered("orders.placed").times(1);
        assertThat(OutboxTable.in(dataSource)).hasNoStuckItems().hasNoDeadItems();
    }

    @Test
    void anOrderIsAnnouncedWhenTheBrokerIsBack(DataSource dataSource) throws SQLException {
        Outbox outbox = PostgresOutbox.create(dataSource);
        RecordingDestination broker = RecordingDestination.flaky(1);
        RetryPolicy retry = RetryPolicy.standard().baseDelay(Duration.ofMinutes(1));
        Poller poller = outbox.poller().to(broker).retry(retry).build();
        new PlainJdbcOrders(dataSource, outbox).placeWithHelper("book");

        poller.pollOnce();
        assertThat(OutboxTable.in(dataSource)).hasNotDelivered("orders.placed").hasNoStuckItems();

        OutboxTable.in(dataSource).letPass(Duration.ofHours(1));
        poller.pollOnce();
        assertThat(OutboxTable.in(dataSource)).hasDelivered("orders.placed");
    }

    @Test
    void anOrderIsAnnouncedThoughTheBrokerFailsTwice(DataSource dataSource) throws Exception {
        Outbox outbox = PostgresOutbox.create(dataSource);
        RecordingDestination broker = RecordingDestination.flaky(2);
        RetryPolicy retry = RetryPolicy.standard().baseDelay(Duration.ofMillis(1));

        try (Poller poller = outbox.poller().to(broker).retry(retry).start()) {
            new PlainJdbcOrders(dataSource, outbox).placeWithHelper("book");
            broker.awaitDeliveries(1);
            assertThat(poller.isRunning()).isTrue();
        }
        assertThat(broker.attempts()).hasSize(3);
        assertThat(OutboxTable.in(dataSource)).hasDelivered("orders.placed");
    }
}
