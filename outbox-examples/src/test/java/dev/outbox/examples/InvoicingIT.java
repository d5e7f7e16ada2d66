package dev.outbox.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.ConflictException;
import dev.outbox.Inbox;
import dev.outbox.Status;
import dev.outbox.delivery.Poller;
import dev.outbox.examples.Invoicing.Delivery;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class InvoicingIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE invoices (content text NOT NULL)");
        }
    });

    private DataSource dataSource;
    private Inbox inbox;
    private Invoicing invoicing;

    private static Inbox inbox(DataSource dataSource) {
        OutboxMigrations.installInboxIfMissing(dataSource);
        Inbox inbox = PostgresInbox.builder(dataSource)
                .consumer("billing")
                .retention(Duration.ofDays(30))
                .maxRedelivery(Duration.ofDays(14))
                .build();
        return inbox;
    }

    @BeforeEach
    void build(DataSource ofTest) {
        dataSource = ofTest;
        inbox = inbox(dataSource);
        invoicing = new Invoicing(dataSource, inbox);
    }

    private List<String> invoices() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT content FROM invoices")) {
            List<String> invoices = new ArrayList<>();
            while (rows.next()) {
                invoices.add(rows.getString(1));
            }
            return invoices;
        }
    }

    private static Delivery delivery(String id, String topic, String body) {
        return new Delivery(id, topic, "o-1", Map.of("traceparent", "00-1"), body);
    }

    @Test
    void aMessageThatComesAgainIsInvoicedOnce() throws SQLException {
        Delivery delivery = delivery("m-1", "orders.placed", "book");

        invoicing.onMessage(delivery);
        invoicing.onMessage(delivery);
        invoicing.onMessageWithRetries(delivery);

        assertThat(invoices()).containsExactly("book");
    }

    @Test
    void anotherMessageUnderTheSameIdIsRefused() throws SQLException {
        invoicing.onMessageWithRetries(delivery("m-1", "orders.placed", "book"));

        assertThatThrownBy(() -> invoicing.onMessageWithRetries(delivery("m-1", "orders.placed", "two books")))
                .isInstanceOf(ConflictException.class);

        assertThat(invoices()).containsExactly("book");
    }

    @Test
    void aMessageThatIsGivenUpIsKnownAndHasNoEffect() throws SQLException {
        Delivery delivery = delivery("m-1", "orders.placed", "book");

        invoicing.giveUp(delivery, "no such customer");
        invoicing.onMessage(delivery);

        assertThat(invoices()).isEmpty();
        assertThat(inbox.get("shop", "m-1").orElseThrow().status()).isEqualTo(Status.DEAD);
    }

    @Test
    void aMessageThatHadItsEffectIsNotGivenUp() throws SQLException {
        Delivery delivery = delivery("m-1", "orders.placed", "book");

        invoicing.onMessage(delivery);
        invoicing.giveUp(delivery, "too late");

        assertThat(inbox.get("shop", "m-1").orElseThrow().status()).isEqualTo(Status.DONE);
        assertThat(invoices()).containsExactly("book");
    }

    @Test
    void storedMessagesAreHandledOnceEachByTheirTopic() throws SQLException {
        try (Poller poller = invoicing.start()) {
            for (int i = 0; i < 2; i++) {
                invoicing.storeForLater(delivery("m-1", "orders.placed", "book"));
                invoicing.storeForLater(delivery("m-2", "orders.cancelled", "book"));
                invoicing.storeForLater(delivery("m-3", "unheard.of", "book"));
            }

            await().atMost(Duration.ofMinutes(3))
                    .untilAsserted(() -> assertThat(invoices()).containsExactlyInAnyOrder("book", "refund of book"));
            await().atMost(Duration.ofMinutes(3))
                    .until(() -> inbox.get("shop", "m-3").orElseThrow().status() == Status.DEAD);
            assertThat(poller.isRunning()).isTrue();
        }
    }
}
