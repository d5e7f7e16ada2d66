package dev.outbox.jackson;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.PayloadSerializer;
import dev.outbox.delivery.Destination;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code of docs/how-to/serialize-payloads.md, on a database. */
class JacksonOutboxIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(OutboxMigrations::install);

    private DataSource dataSource;
    private Outbox outbox;

    @BeforeEach
    void build(DataSource ofTest) {
        dataSource = ofTest;
        PayloadSerializer serializer = JacksonSerializer.builder()
                .type("orders.placed.v1", OrderPlaced.class)
                .build();
        outbox = PostgresOutbox.builder(dataSource).serializer(serializer).build();
    }

    @Test
    void aBodyIsStoredAsJsonAndDeliveredAsABody() throws Exception {
        OrderPlaced placed = OrderPlaced.example();
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, Message.to("orders.placed").key(placed.orderId()).body(placed));
            tx.commit();
        }
        assertThat(query("SELECT payload::json ->> 'placedOn' FROM outbox"))
                .isEqualTo("2026-03-01T12:00:00.123456789Z");
        assertThat(query("SELECT headers::json ->> 'message-type' FROM outbox")).isEqualTo("orders.placed.v1");

        Invoices invoices = new Invoices();
        Destination destination = item -> {
            OrderPlaced order = item.body(OrderPlaced.class);
            invoices.write(order.orderId(), order.total());
        };

        try (Poller poller = outbox.poller().to(destination).start()) {
            poller.wakeUp();
            assertThat(invoices.written.poll(2, TimeUnit.MINUTES)).isEqualTo("o-1: 12345678901234567890.10");
        }
    }

    private static final class Invoices {
        private final BlockingQueue<String> written = new LinkedBlockingQueue<>();

        void write(String orderId, Object total) {
            written.add(orderId + ": " + total);
        }
    }

    @Test
    void aBodyThatCannotBeEncodedIsNotStoredAndTheTransactionLivesOn() throws Exception {
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            assertThatThrownBy(
                            () -> outbox.enqueue(tx, Message.to("orders.placed").body("a mere text")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("java.lang.String has no type name");
            outbox.enqueue(tx, Message.to("orders.placed").body(OrderPlaced.example()));
            tx.commit();
        }

        assertThat(query("SELECT count(*) FROM outbox")).isEqualTo("1");
    }

    /** As in a rolling deployment: the new version sends what the old one does not know. */
    @Test
    void whatAnOldVersionDoesNotKnowIsDeliveredByTheNewOne() throws Exception {
        Outbox newOutbox = PostgresOutbox.builder(dataSource)
                .serializer(JacksonSerializer.builder()
                        .type("orders.placed.v1", OrderPlaced.class)
                        .type("orders.moved.v1", OrderMoved.class)
                        .build())
                .build();
        try (Connection tx = dataSource.getConnection()) {
            tx.setAutoCommit(false);
            newOutbox.enqueue(tx, Message.to("orders.moved").body(new OrderMoved("17")));
            tx.commit();
        }
        List<Object> oldSaw = new ArrayList<>();
        List<Object> newSaw = new ArrayList<>();

        poll(outbox, item -> oldSaw.add(item.body(OrderPlaced.class)));

        assertThat(query("SELECT status || ' after ' || attempt_count || ': ' || last_error FROM outbox"))
                .isEqualTo("0 after 0: dev.outbox.UnknownTypeException: unknown type orders.moved.v1;"
                        + " the serializer knows [orders.placed.v1]");
        query("UPDATE outbox SET due_on = statement_timestamp()"); // its pause is over
        poll(newOutbox, item -> newSaw.add(item.body(OrderMoved.class)));
        assertThat(oldSaw).isEmpty();
        assertThat(newSaw).containsExactly(new OrderMoved("17"));
        assertThat(query("SELECT status || ' after ' || attempt_count FROM outbox"))
                .isEqualTo("2 after 1");
    }

    record OrderMoved(String orderId) {}

    private static void poll(Outbox outbox, Destination destination) {
        try (Poller poller = outbox.poller().to(destination).build()) {
            assertThat(poller.pollOnce()).isEqualTo(1);
        }
    }

    private String query(String sql) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return "";
            }
            try (ResultSet rows = statement.getResultSet()) {
                rows.next();
                return rows.getString(1);
            }
        }
    }
}
