package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.admin.Diagnosis.Severity;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Every call works in a schema whose name has to be quoted, and on no table of another schema. */
class TenantSchemaIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA \"tenant-a\"");
        }
        OutboxMigrations.install(dataSource, "tenant-a.outbox");
        OutboxMigrations.installInbox(dataSource, "tenant-a.inbox");
        OutboxMigrations.installAdmin(dataSource, "tenant-a");
        OutboxMigrations.installLookup(dataSource, "tenant-a.outbox");
        OutboxMigrations.installLookup(dataSource, "tenant-a.inbox");
    });

    private Tables database;
    private Admin admin;

    @BeforeEach
    void fill(DataSource dataSource) {
        database = new Tables(dataSource, "tenant-a.outbox", "tenant-a.inbox");
        admin = Admin.of(dataSource)
                .outbox("tenant-a.outbox")
                .inbox("tenant-a.inbox")
                .glanceTimeout(Tables.PATIENCE)
                .build();
        for (int status = 0; status < 4; status++) {
            database.execute("""
                    INSERT INTO "tenant-a".outbox (work_item_id, topic, message_key, payload, status, processed_on)
                    SELECT gen_random_uuid(), 'orders', 'order-' || ?::int, 'x', ?::int,
                        CASE WHEN ?::int >= 2 THEN statement_timestamp() - interval '30 days' END
                    """, status, status, status);
        }
        database.execute("""
                INSERT INTO "tenant-a".inbox (work_item_id, consumer, source, message_id, topic, payload, status, processed_on)
                VALUES (gen_random_uuid(), 'billing', 'shop', 'm-1', 'payments', 'x', 3, statement_timestamp())
                """);
    }

    @Test
    void whatIsReadIsThere() {
        assertThat(admin.status()).extracting(TableStatus::table).containsExactly("tenant-a.outbox", "tenant-a.inbox");
        assertThat(admin.statusExactly().get(0).count(Status.DONE)).isOne();
        assertThat(admin.backlog(TableKind.OUTBOX).dead()).isOne();
        assertThat(admin.health().state()).isNotEqualTo(Health.State.DOWN);
        assertThat(admin.lookup().byKey("order-0", Page.first(5)).items()).hasSize(1);
        List<Item> dead =
                admin.deadLetters().list(DeadFilter.all(), Page.first(5)).items();
        assertThat(dead).extracting(Item::topic).containsExactly("payments", "orders");
        assertThat(admin.deadLetters().showWithPayload(dead.get(1).ref())).isPresent();
    }

    @Test
    void whatIsDoneIsDoneThere() {
        DeadLetters dead = admin.deadLetters();

        assertThat(dead.requeue(DeadFilter.all().in(TableKind.OUTBOX), Requeue.by("anna", "why"))
                        .count())
                .isOne();
        assertThat(dead.discard(DeadFilter.all(), Discard.by("anna", "why")).count())
                .isOne();
        assertThat(admin.purge(TableKind.OUTBOX, Duration.ofDays(10), false).count())
                .isOne();
        assertThat(database.rows("SELECT action, table_name FROM \"tenant-a\".outbox_audit ORDER BY 1"))
                .containsExactly("discard|tenant-a.inbox", "requeue|tenant-a.outbox");
    }

    @Test
    void theDoctorFindsNothingWrongWithIt() {
        List<Diagnosis> all = admin.doctor().examine(Tables.NO_OLD_TRANSACTIONS);

        assertThat(all)
                .filteredOn(found -> found.check().endsWith("schema"))
                .allSatisfy(
                        found -> assertThat(found.severity()).as(found.what()).isEqualTo(Severity.OK));
        assertThat(all).extracting(Diagnosis::severity).doesNotContain(Severity.FAIL, Severity.SKIPPED);
    }

    @Test
    void aTableOfAnotherSchemaIsNotLookedAt(DataSource dataSource) {
        assertThatThrownBy(() -> Admin.of(dataSource).build().status())
                .isInstanceOf(NoSuchTableException.class)
                .hasMessageStartingWith("there is neither an outbox table \"outbox\" nor an inbox table \"inbox\"");
    }

    @Test
    void aTableOfTheOtherKindIsRefused(DataSource dataSource) {
        assertThatThrownBy(() ->
                        Admin.of(dataSource).outbox("tenant-a.inbox").build().status())
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"tenant-a.inbox\" is an inbox table; name it with inbox(...)");
    }
}
