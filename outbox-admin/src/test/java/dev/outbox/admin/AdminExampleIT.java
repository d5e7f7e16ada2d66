package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.jdbc.Database;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Role;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The code of the documentation. */
class AdminExampleIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(OutboxMigrations::install);

    @Test
    void anOperatorsDay(DataSource dataSource) {
        OutboxMigrations.installAdmin(dataSource);
        OutboxMigrations.installLookup(dataSource, "outbox");
        Tables tables = tables(dataSource);
        ItemRef poison = tables.dead(Message.to("orders.placed").key("order-42").payload("x"), "cannot parse");
        tables.dead(Message.to("orders.placed").payload("x"), "timeout");

        Admin admin = Admin.of(dataSource).build();

        ItemPage page = admin.deadLetters().list(DeadFilter.all().topic("orders.placed"), Page.first(50));
        page.items().forEach(item -> System.out.println(item.ref() + " " + item.key() + " " + item.error()));
        page.next().ifPresent(next -> admin.deadLetters().list(DeadFilter.all(), next));

        Requeue requeue = Requeue.by("anna", "the broker is back")
                .delay(Duration.ofMinutes(1))
                .perSecond(100);
        DeadFilter timeouts = DeadFilter.all().error("timeout");
        System.out.println("would requeue "
                + admin.deadLetters().requeue(timeouts, requeue.asDryRun()).count());
        ActionResult requeued = admin.deadLetters().requeue(timeouts, requeue);

        ActionResult discarded =
                admin.deadLetters().discard(List.of(poison), Discard.by("anna", "INC-7: a broken import"));

        List<Item> story = admin.lookup().byKey("order-42", Page.first(50)).items();
        List<TableStatus> status = admin.status();
        Health health = admin.health(HealthLimits.standard().oldestDue(Duration.ofMinutes(1)));
        List<Diagnosis> diagnoses = admin.doctor().examine();

        assertThat(requeued.count()).isOne();
        assertThat(discarded.count()).isOne();
        assertThat(story).isEmpty();
        assertThat(status).hasSize(1);
        assertThat(health.reasons()).noneMatch(reason -> reason.contains("blocked"));
        assertThat(diagnoses).isNotEmpty();
    }

    private static Tables tables(DataSource dataSource) {
        OutboxMigrations.installInbox(dataSource, "unused");
        return new Tables(dataSource, "outbox", "unused");
    }

    @Test
    void deadRowsHaveARetentionOfTheirOwn(DataSource dataSource) {
        Outbox outbox = PostgresOutbox.builder(dataSource)
                .retention(Duration.ofDays(7))
                .deadRetention(Duration.ofDays(90))
                .build();

        assertThat(outbox.source().purge()).isZero();
    }

    @Test
    void grantsArePrinted() {
        System.out.println(Role.PRODUCER.grants(Database.POSTGRES, "shop", "public", "outbox", "inbox"));

        assertThat(Role.PRODUCER.grants(Database.POSTGRES, "shop", "public", "outbox", "inbox"))
                .contains("GRANT INSERT ON \"public\".\"outbox\" TO \"shop\";");
    }
}
