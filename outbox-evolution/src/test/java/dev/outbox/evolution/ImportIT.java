package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.outbox.Ack;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.WorkItem;
import dev.outbox.delivery.Poller;
import dev.outbox.migrations.Import;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Coming from elsewhere: other tables, another schema, another way to acknowledge. */
class ImportIT {
    private final EmbeddedDatabase database = EmbeddedDatabase.create();

    @AfterEach
    void close() {
        database.close();
    }

    private void run(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private List<String> rows(String sql) throws SQLException {
        try (Connection connection = database.dataSource().getConnection();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            List<String> rows = new ArrayList<>();
            while (row.next()) {
                rows.add(row.getString(1));
            }
            return rows;
        }
    }

    private List<WorkItem> deliver(Outbox outbox, int count) {
        List<WorkItem> delivered = new CopyOnWriteArrayList<>();
        Poller poller = outbox.poller().to(delivered::add).start();
        try {
            await().atMost(Duration.ofSeconds(180)).until(() -> delivered.size() >= count);
        } finally {
            poller.close();
        }
        return delivered;
    }

    private void enqueue(Outbox outbox, Message message) throws SQLException {
        try (Connection tx = database.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            outbox.enqueue(tx, message);
            tx.commit();
        }
    }

    @Test
    void eventsPerEntityAreDeliveredInTheOrderOfEachEntity() throws SQLException {
        run("""
                CREATE TABLE outbox_events (
                    id VARCHAR(255) PRIMARY KEY,
                    entity_id VARCHAR(255) NOT NULL,
                    sequence BIGINT NOT NULL,
                    message TEXT NOT NULL,
                    created_at TIMESTAMP NOT NULL DEFAULT NOW()
                );
                INSERT INTO outbox_events VALUES
                    ('e3', 'order-1', 1, 'three', '2026-01-02'), ('e1', 'order-1', 1, 'one', '2026-01-01'),
                    ('e2', 'order-1', 2, 'two', '2026-01-01'), ('e4', 'order-2', 1, 'four', '2026-01-03');
                ALTER TABLE outbox_events ADD COLUMN sent_at TIMESTAMP;
                INSERT INTO outbox_events VALUES ('e0', 'order-1', 1, 'sent', '2025-01-01', '2025-01-01');
                """);
        OutboxMigrations.install(database.dataSource());

        run(Import.entityEvents("outbox_events", "outbox", "orders"));
        run(Import.entityEvents("outbox_events", "outbox", "orders"));

        List<WorkItem> delivered = deliver(PostgresOutbox.create(database.dataSource()), 4);
        assertThat(delivered).hasSize(4).allMatch(item -> item.topic().equals("orders"));
        assertThat(delivered)
                .filteredOn(item -> "order-1".equals(item.message().key()))
                .extracting(WorkItem::messageId)
                .containsExactly("e1", "e2", "e3");
    }

    @Test
    void eventsPerTenantKeepWhatBecameOfThem() throws SQLException {
        run("""
                CREATE SCHEMA tenant;
                CREATE TYPE tenant."OutboxStatus" AS ENUM ('pending', 'published', 'failed');
                CREATE TABLE tenant."OutboxEvent" (
                    id text PRIMARY KEY,
                    "tenantId" text NOT NULL,
                    "eventType" text NOT NULL,
                    "aggregateType" text NOT NULL,
                    "aggregateId" text NOT NULL,
                    payload json NOT NULL,
                    status tenant."OutboxStatus" NOT NULL DEFAULT 'pending',
                    error text,
                    "createdAt" timestamp(3) NOT NULL DEFAULT now(),
                    "publishedAt" timestamp(3)
                );
                INSERT INTO tenant."OutboxEvent" VALUES
                    ('c2', 'acme', 'kitchen.task.claimed', 'KitchenTask', '7', '{"n":2}', 'pending', NULL, '2026-01-02', NULL),
                    ('c1', 'acme', 'kitchen.task.claimed', 'KitchenTask', '7', '{"n":1}', 'pending', NULL, '2026-01-01', NULL),
                    ('c0', 'acme', 'kitchen.task.claimed', 'KitchenTask', '7', '{"n":0}', 'published', NULL, '2025-01-01',
                        '2025-01-01'),
                    ('cx', 'acme', 'event.board.moved', 'Board', '9', '{}', 'failed', 'PUBLISH_ERROR: down', '2026-01-01', NULL);
                """);
        OutboxMigrations.install(database.dataSource());

        run(Import.tenantEvents("tenant.OutboxEvent", "outbox"));
        run(Import.tenantEvents("tenant.OutboxEvent", "outbox"));

        List<WorkItem> delivered = deliver(PostgresOutbox.create(database.dataSource()), 2);
        assertThat(delivered).extracting(WorkItem::messageId).containsExactly("c1", "c2");
        assertThat(delivered.get(0).message().key()).isEqualTo("KitchenTask:7");
        assertThat(delivered.get(0).message().tenantId()).isEqualTo("acme");
        assertThat(delivered.get(0).message().headers()).containsEntry("aggregateId", "7");
        assertThat(rows("SELECT message_id || ' ' || status || ' ' || COALESCE(last_error, '') FROM outbox ORDER BY 1"))
                .containsExactly("c0 2 ", "c1 2 ", "c2 2 ", "cx 3 PUBLISH_ERROR: down");
    }

    @Test
    void aTableMovesToAnotherSchemaWhileApplicationsUseItsOldName() throws SQLException {
        run("CREATE SCHEMA tenant; CREATE SCHEMA core");
        OutboxMigrations.install(database.dataSource(), "tenant.outbox");
        Outbox before = PostgresOutbox.builder(database.dataSource())
                .table("tenant.outbox")
                .build();
        enqueue(before, Message.to("t").key("k").payload("1"));

        run("""
                BEGIN;
                ALTER TABLE tenant.outbox SET SCHEMA core;
                CREATE VIEW tenant.outbox AS SELECT * FROM core.outbox;
                COMMIT;
                """);
        enqueue(before, Message.to("t").key("k").payload("2"));

        Outbox after = PostgresOutbox.builder(database.dataSource())
                .table("core.outbox")
                .build();
        enqueue(after, Message.to("t").key("k").payload("3"));
        assertThat(deliver(after, 3))
                .extracting(item -> item.message().payload())
                .containsExactly("1", "2", "3");
        run("DROP VIEW tenant.outbox");
    }

    @Test
    void whatWasDeletedAfterItWasSentIsKeptFromNowOnAndTheOtherWayRound() throws SQLException {
        OutboxMigrations.install(database.dataSource());
        Outbox deleting =
                PostgresOutbox.builder(database.dataSource()).ack(Ack.DELETE).build();
        Outbox keeping =
                PostgresOutbox.builder(database.dataSource()).ack(Ack.KEEP).build();

        enqueue(deleting, Message.to("t").payload("1"));
        deliver(deleting, 1);
        assertThat(rows("SELECT payload FROM outbox")).isEmpty();

        enqueue(deleting, Message.to("t").payload("2"));
        deliver(keeping, 1);
        assertThat(rows("SELECT payload FROM outbox WHERE status = 2")).containsExactly("2");

        enqueue(keeping, Message.to("t").payload("3"));
        deliver(deleting, 1);
        assertThat(rows("SELECT payload FROM outbox WHERE status = 2")).containsExactly("2");
        assertThat(deleting.purge(Duration.ZERO)).isEqualTo(1);
        assertThat(rows("SELECT payload FROM outbox")).isEmpty();
    }
}
