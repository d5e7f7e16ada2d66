package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.PermanentFailureException;
import dev.outbox.Status;
import dev.outbox.admin.ActionResult;
import dev.outbox.admin.Admin;
import dev.outbox.admin.Backlog;
import dev.outbox.admin.BlockedKey;
import dev.outbox.admin.DeadFilter;
import dev.outbox.admin.Diagnosis;
import dev.outbox.admin.Discard;
import dev.outbox.admin.Health;
import dev.outbox.admin.Item;
import dev.outbox.admin.ItemPage;
import dev.outbox.admin.ItemRef;
import dev.outbox.admin.Page;
import dev.outbox.admin.Requeue;
import dev.outbox.admin.TableStatus;
import dev.outbox.jdbc.TableKind;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.Heartbeat;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What operators ask and do. */
abstract class SqlServerOperators {
    private static final Requeue REQUEUE = Requeue.by("anna", "the broker is back");
    private static final Discard DISCARD = Discard.by("anna", "a duplicate");

    private final SqlServerDatabase database;
    private final String table;
    private final String inboxTable;
    private final Outbox outbox;
    private final Inbox inbox;
    private final Admin admin;

    SqlServerOperators(Server server) {
        this.database = server.database(Server.Variant.AS_IT_IS);
        this.table = database.emptyTable();
        this.inboxTable = database.emptyInboxTable();
        this.outbox = SqlServerOutbox.builder(database.pool()).table(table).build();
        this.inbox = SqlServerInbox.builder(database.pool())
                .table(inboxTable)
                .consumer("billing")
                .build();
        this.admin = Admin.of(database.pool())
                .outbox(table)
                .inbox(inboxTable)
                .glanceTimeout(Duration.ofMinutes(2))
                .build();
    }

    @BeforeEach
    void installTwice() {
        for (int i = 0; i < 2; i++) {
            OutboxMigrations.installAdmin(database.pool());
            installLookup(table);
            installLookup(inboxTable);
        }
        database.execute("DELETE FROM outbox_audit");
        database.execute("DELETE FROM outbox_pollers");
    }

    /** Not again where the server adds something to the names of indexes, so that the script does not find them. */
    private void installLookup(String table) {
        List<String> found = database.query(
                "SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID(?) AND name LIKE ?",
                table,
                table + "_ByKey%");
        if (found.isEmpty() || found.get(0).equalsIgnoreCase(table + "_ByKey")) {
            OutboxMigrations.installLookup(database.pool(), table);
        }
    }

    private void enqueue(Message... messages) {
        database.commit(outbox, List.of(messages));
    }

    private void enqueue(Incoming incoming) throws SQLException {
        try (Connection tx = database.pool().getConnection()) {
            tx.setAutoCommit(false);
            inbox.enqueue(tx, incoming);
            tx.commit();
            tx.setAutoCommit(true);
        }
    }

    private void killAll() {
        int claimed;
        do {
            claimed = outbox.poller()
                    .onDead(OnDead.BLOCK)
                    .to(item -> {
                        throw new PermanentFailureException("cannot be parsed: " + item.topic());
                    })
                    .build()
                    .pollOnce();
        } while (claimed > 0);
        inbox.poller()
                .inTransaction((tx, item) -> {
                    throw new PermanentFailureException("no stock");
                })
                .build()
                .pollOnce();
    }

    private void deliverAll() {
        while (outbox.poller().to(item -> {}).build().pollOnce() > 0) {}
    }

    private static Message message(String topic) {
        return Message.to(topic).payload("{}");
    }

    private void threeDeadAndABlockedKey() throws SQLException {
        enqueue(
                message("orders.placed").tenantId("acme").correlationId("c-1"),
                message("orders.paid").key("order-42"));
        enqueue(Incoming.from("shop", "m-1").topic("payments").payload("{}"));
        killAll();
        enqueue(message("orders.sent").key("order-42"));
    }

    private List<Item> dead(DeadFilter filter) {
        return admin.deadLetters().list(filter, Page.first(10)).items();
    }

    @Test
    void deadLettersAreListedFilteredPagedAndShown() throws SQLException {
        threeDeadAndABlockedKey();

        assertThat(dead(DeadFilter.all())).extracting(Item::topic).contains("orders.placed", "orders.paid", "payments");
        assertThat(dead(DeadFilter.all().topic("orders.placed"))).hasSize(1);
        assertThat(dead(DeadFilter.all().key("order-42"))).hasSize(1);
        assertThat(dead(DeadFilter.all().tenant("acme"))).hasSize(1);
        assertThat(dead(DeadFilter.all().error("CANNOT BE PARSED"))).hasSize(2);
        assertThat(dead(DeadFilter.all().olderThan(Duration.ofHours(1)))).isEmpty();
        assertThat(dead(DeadFilter.all().olderThan(Duration.ZERO))).hasSize(3);
        ItemPage first = admin.deadLetters().list(DeadFilter.all(), Page.first(2));
        assertThat(first.items()).hasSize(2);
        assertThat(admin.deadLetters()
                        .list(DeadFilter.all(), first.next().orElseThrow())
                        .items())
                .hasSize(1);
        ItemRef ref = dead(DeadFilter.all().topic("payments")).get(0).ref();
        assertThat(admin.deadLetters().show(ref).orElseThrow().payload()).isNull();
        assertThat(admin.deadLetters().showWithPayload(ref).orElseThrow().payload())
                .isEqualTo("{}");
    }

    @Test
    void deadLettersAreRequeuedAndDiscardedWithARecord() throws SQLException {
        threeDeadAndABlockedKey();
        ItemRef paid = dead(DeadFilter.all().key("order-42")).get(0).ref();

        assertThat(admin.deadLetters()
                        .requeue(DeadFilter.all(), REQUEUE.asDryRun())
                        .count())
                .isEqualTo(3);
        assertThat(admin.deadLetters().requeue(List.of(paid), REQUEUE).count()).isOne();
        ActionResult discarded = admin.deadLetters().discard(DeadFilter.all(), DISCARD);

        assertThat(discarded.count()).isEqualTo(2);
        deliverAll();
        assertThat(admin.lookup().byKey("order-42", Page.first(5)).items())
                .extracting(Item::status)
                .containsExactly(Status.DONE, Status.DONE);
        assertThat(database.query("SELECT Action FROM outbox_audit ORDER BY AuditId"))
                .containsExactly("requeue", "discard", "discard");
        assertThat(database.query("SELECT COUNT(*) FROM " + inboxTable + " WHERE Status = 2 AND Topic IS NULL"))
                .containsExactly("1");
    }

    @Test
    void whatTheInboxHasForgottenIsNotRequeued() throws SQLException {
        enqueue(Incoming.from("shop", "m-1").topic("payments").payload("{}"));
        killAll();
        database.execute("UPDATE " + inboxTable + " SET FirstSeenOn = DATEADD(minute, -90, FirstSeenOn),"
                + " CreatedOn = DATEADD(minute, -90, CreatedOn)");

        assertThat(remembering(Duration.ofMinutes(60))).isZero();
        assertThat(remembering(Duration.ofMinutes(120))).isOne();
    }

    private long remembering(Duration retention) {
        return Admin.of(database.pool())
                .inbox(inboxTable)
                .inboxRetention(retention)
                .build()
                .deadLetters()
                .requeue(DeadFilter.all(), REQUEUE.asDryRun())
                .count();
    }

    @Test
    void itemsAreFoundByWhatTheyHaveInCommon() throws SQLException {
        threeDeadAndABlockedKey();

        assertThat(admin.lookup().byKey("order-42", Page.first(5)).items())
                .extracting(Item::topic)
                .containsExactly("orders.paid", "orders.sent");
        List<Item> related = admin.lookup().byCorrelation("c-1", Page.first(5)).items();
        assertThat(related).hasSize(1);
        assertThat(admin.lookup().byTenant("acme", Page.first(5)).items()).isEqualTo(related);
        assertThat(admin.lookup().byId(related.get(0).ref().id())).contains(related.get(0));
    }

    @Test
    void statusBacklogAndHealthTellTheSame() throws SQLException {
        threeDeadAndABlockedKey();
        enqueue(message("orders.placed"));
        deliverAll();
        enqueue(message("orders.placed"));

        TableStatus status = admin.status().get(0);

        assertThat(status.count(Status.READY)).isEqualTo(2);
        assertThat(status.count(Status.DEAD)).isEqualTo(2);
        assertThat(status.done()).isOne();
        assertThat(status.throughput())
                .get()
                .satisfies(throughput -> assertThat(throughput.sample()).isOne());
        assertThat(status.blocked()).singleElement().satisfies(key -> {
            assertThat(key.key()).isEqualTo("order-42");
            assertThat(key.waiting()).isOne();
            assertThat(key.status()).isEqualTo(Status.DEAD);
        });
        assertThat(admin.statusExactly().get(0).done()).isOne();
        Backlog backlog = admin.backlog(TableKind.OUTBOX);
        assertThat(backlog.ready()).isEqualTo(2);
        assertThat(backlog.processing()).isZero();
        assertThat(backlog.dead()).isEqualTo(2);
        assertThat(backlog.oldestDue()).isPresent();
        Health health = admin.health();
        assertThat(health.state()).isEqualTo(Health.State.DEGRADED);
        assertThat(health.reasons()).singleElement().asString().contains("1 key is blocked");
    }

    @Test
    void aKeyWhoseHeadBacksOffIsBlocked() {
        enqueue(message("orders.placed").key("order-7"), message("orders.paid").key("order-7"));
        outbox.poller()
                .to(item -> {
                    throw new IllegalStateException("refused");
                })
                .build()
                .pollOnce();
        database.execute("UPDATE " + table + " SET DueOn = DATEADD(hour, 1, SYSUTCDATETIME()) WHERE AttemptCount = 1");

        List<BlockedKey> blocked = admin.status().get(0).blocked();

        assertThat(blocked).singleElement().satisfies(key -> {
            assertThat(key.status()).isEqualTo(Status.READY);
            assertThat(key.waiting()).isOne();
        });
    }

    @Test
    void whatWasDoneLongAgoIsPurged() {
        enqueue(message("orders.placed"), message("orders.placed"));
        deliverAll();
        database.execute("UPDATE " + table + " SET ProcessedOn = DATEADD(minute, -90, ProcessedOn)");
        enqueue(message("orders.placed"));
        deliverAll();

        assertThat(admin.purge(TableKind.OUTBOX, Duration.ofMinutes(60), true).count())
                .isEqualTo(2);
        assertThat(admin.purge(TableKind.OUTBOX, Duration.ofMinutes(60), false).count())
                .isEqualTo(2);
        assertThat(admin.status().get(0).done()).isOne();
    }

    @Test
    void theDoctorKnowsPollersAndKeys() throws SQLException {
        threeDeadAndABlockedKey();
        outbox.source()
                .heartbeat(new Heartbeat(
                        "node-1",
                        "1",
                        Duration.ofHours(1),
                        Duration.ofSeconds(1),
                        Duration.ofSeconds(30),
                        Duration.ofSeconds(31),
                        "java.lang.OutOfMemoryError: Java heap space",
                        Duration.ofMinutes(30),
                        false));

        List<Diagnosis> found = admin.doctor().examine();

        assertThat(found)
                .filteredOn(diagnosis -> diagnosis.severity() == Diagnosis.Severity.WARN)
                .extracting(Diagnosis::check)
                .contains("outbox keys", "outbox pollers");
        assertThat(found).extracting(Diagnosis::check).contains("outbox retention", "inbox schema");
        assertThat(found)
                .extracting(Diagnosis::evidence)
                .anyMatch(evidence -> evidence.endsWith("Z: java.lang.OutOfMemoryError: Java heap space"));
        assertThat(admin.status().get(0).pollers()).singleElement().satisfies(poller -> {
            assertThat(poller.lastError()).isEqualTo("java.lang.OutOfMemoryError: Java heap space");
            assertThat(Duration.between(poller.startedOn(), poller.lastErrorOn()))
                    .isEqualTo(Duration.ofMinutes(30));
        });
    }

    @Test
    void aMissingTableIsNamed() {
        assertThatThrownBy(() ->
                        Admin.of(database.pool()).outbox("nowhere").build().status())
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("\"nowhere\"");
    }
}
