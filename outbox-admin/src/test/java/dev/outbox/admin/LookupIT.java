package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.PostgresExtension;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class LookupIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private Tables tables;
    private Lookup lookup;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
        lookup = tables.admin().lookup();
    }

    @Test
    void aKeyTellsItsStoryInOrder() {
        tables.enqueue(Message.to("orders.placed").key("order-42").payload("1"));
        tables.deliver();
        tables.dead(Message.to("orders.paid").key("order-42").payload("2"), "no route");
        tables.enqueue(
                Incoming.from("bank", "m-1").topic("payments").key("order-42").payload("3"));
        tables.enqueue(Message.to("orders.sent").key("order-42").payload("4"));
        tables.enqueue(Message.to("orders.sent").key("order-43").payload("5"));

        ItemPage story = lookup.byKey("order-42", Page.first(10));

        assertThat(story.items())
                .extracting(Item::topic)
                .containsExactly("orders.placed", "orders.paid", "payments", "orders.sent");
        assertThat(story.items())
                .extracting(Item::status)
                .containsExactly(Status.DONE, Status.DEAD, Status.READY, Status.READY);
        ItemPage first = lookup.byKey("order-42", Page.first(3));
        assertThat(first.items()).isEqualTo(story.items().subList(0, 3));
        assertThat(lookup.byKey("order-42", first.next().orElseThrow()).items())
                .isEqualTo(story.items().subList(3, 4));
    }

    @Test
    void itemsAreFoundByCorrelationTenantAndId() {
        String id = tables.enqueue(
                Message.to("orders").correlationId("c-1").tenantId("acme").payload("1"));
        tables.enqueue(
                Message.to("orders").correlationId("c-2").tenantId("umbrella").payload("2"));

        assertThat(lookup.byCorrelation("c-1", Page.first(5)).items())
                .extracting(item -> item.ref().id())
                .containsExactly(id);
        assertThat(lookup.byTenant("acme", Page.first(5)).items())
                .extracting(item -> item.ref().id())
                .containsExactly(id);
        assertThat(lookup.byId(id)).get().extracting(Item::correlationId).isEqualTo("c-1");
        assertThat(lookup.byId(UUID.randomUUID().toString())).isEmpty();
        assertThatThrownBy(() -> lookup.byId("order-42")).hasMessageContaining("UUID");
    }

    @Test
    void aLargeTableIsNotReadWithoutAnIndex() {
        fill(10_001);

        assertThatThrownBy(() -> lookup.byKey("order-1", Page.first(5)))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("\"public.outbox\"")
                .hasMessageContaining("installLookup");

        OutboxMigrations.installLookup(tables.dataSource, "outbox");
        OutboxMigrations.installLookup(tables.dataSource, "outbox"); // may be repeated

        assertThat(lookup.byKey("order-1", Page.first(5)).items()).hasSize(1);
        assertThat(lookup.byCorrelation("none", Page.first(5)).items()).isEmpty();
        assertThat(lookup.byTenant("none", Page.first(5)).items()).isEmpty();
        tables.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'outbox_by_key'::regclass");
        assertThatThrownBy(() -> tables.admin().lookup().byKey("order-1", Page.first(5)))
                .hasMessageContaining("installLookup");
    }

    @Test
    void aSmallTableIsReadWithoutAnIndex() {
        fill(10_000);

        assertThat(lookup.byKey("order-1", Page.first(5)).items()).hasSize(1);
    }

    private void fill(int rows) {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, message_key, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'order-' || n, 'x', 2, statement_timestamp()
                FROM generate_series(1, ?) AS n
                """, rows);
    }
}
