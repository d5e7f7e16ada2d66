package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Status;
import dev.outbox.jdbc.TableKind;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Dead letters of both tables: seen, given up, and what is refused. */
class DeadLettersIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = Tables.extension();

    private static final Requeue REQUEUE = Requeue.by("anna", "the broker is back");
    private static final Discard DISCARD = Discard.by("anna", "a duplicate order");

    private Tables tables;
    private DeadLetters dead;

    @BeforeEach
    void open(DataSource dataSource) {
        tables = new Tables(dataSource);
        dead = tables.admin().deadLetters();
    }

    @Test
    void outboxAndInboxAreOneListNewestFirst() {
        ItemRef first = tables.dead(Message.to("orders").payload("1"), "no route");
        ItemRef second =
                tables.dead(Incoming.from("shop", "m-2").topic("orders").payload("2"), "no stock");
        ItemRef third = tables.dead(Message.to("orders").payload("3"), "no route");
        tables.enqueue(Message.to("orders").payload("alive"));

        ItemPage page = dead.list(DeadFilter.all(), Page.first(10));

        assertThat(refs(page)).containsExactly(third, second, first);
        assertThat(page.next()).isEmpty();
        Item inboxItem = page.items().get(1);
        assertThat(inboxItem.consumer()).isEqualTo("billing");
        assertThat(inboxItem.source()).isEqualTo("shop");
        assertThat(inboxItem.messageId()).isEqualTo("m-2");
        assertThat(inboxItem.attempts()).isOne();
        assertThat(inboxItem.error()).contains("no stock");
        assertThat(inboxItem.processedOn()).isNotNull();
    }

    @Test
    void pagesGoOnWhereTheLastEnded() {
        List<ItemRef> all = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            all.add(
                    0,
                    i % 3 == 0
                            ? tables.dead(
                                    Incoming.from("shop", "m-" + i)
                                            .topic("orders")
                                            .payload("x"),
                                    "e")
                            : tables.dead(Message.to("orders").payload("x"), "e"));
        }
        tables.execute("UPDATE outbox SET processed_on = NULL WHERE sequence <= 2"); // as a migration may leave them
        List<ItemRef> expected = new ArrayList<>(refs(dead.list(DeadFilter.all(), Page.first(100))));

        List<ItemRef> seen = new ArrayList<>();
        Optional<Page> next = Optional.of(Page.first(2));
        while (next.isPresent()) {
            ItemPage page = dead.list(DeadFilter.all(), next.get());
            assertThat(page.items()).hasSizeLessThanOrEqualTo(2);
            seen.addAll(refs(page));
            next = page.next().map(Page::token).map(token -> Page.after(token, 2));
        }

        assertThat(seen).isEqualTo(expected).containsExactlyInAnyOrderElementsOf(all);
    }

    @Test
    void eachConditionOfAFilterCounts() {
        ItemRef wanted = tables.dead(
                Message.to("orders").key("order-42").tenantId("acme").payload("x"), "Read TIMEOUT after 5 s");
        ItemRef other = tables.dead(
                Message.to("mails").key("order-43").tenantId("umbrella").payload("x"), "no route");
        tables.execute("UPDATE outbox SET processed_on = processed_on - interval '2 hours' WHERE topic = 'orders'");

        assertThat(found(DeadFilter.all().topic("orders"))).containsExactly(wanted);
        assertThat(found(DeadFilter.all().key("order-42"))).containsExactly(wanted);
        assertThat(found(DeadFilter.all().tenant("acme"))).containsExactly(wanted);
        assertThat(found(DeadFilter.all().error("timeout"))).containsExactly(wanted);
        assertThat(found(DeadFilter.all().olderThan(Duration.ofHours(1)))).containsExactly(wanted);
        assertThat(found(DeadFilter.all().topic("orders").tenant("umbrella"))).isEmpty();
        assertThat(found(DeadFilter.all().in(TableKind.INBOX))).isEmpty();
        assertThat(found(DeadFilter.all())).containsExactly(other, wanted);
        assertThat(found(DeadFilter.all().error("100%"))).isEmpty();
    }

    @Test
    void thePayloadIsShownOnlyOnRequest() {
        ItemRef ref = tables.dead(
                Message.to("orders")
                        .header("trace", "abc")
                        .contentType("text/plain")
                        .payload("secret"),
                "e");

        ItemDetail shown = dead.show(ref).orElseThrow();
        assertThat(shown.headers()).containsEntry("trace", "abc");
        assertThat(shown.contentType()).isEqualTo("text/plain");
        assertThat(shown.item().attempts()).isOne();
        assertThat(shown.payload()).isNull();
        assertThat(dead.showWithPayload(ref).orElseThrow().payload()).isEqualTo("secret");
        assertThat(dead.showWithPayload(ref).orElseThrow().toString()).doesNotContain("secret");
        assertThat(dead.show(new ItemRef(TableKind.OUTBOX, UUID.randomUUID().toString())))
                .isEmpty();
    }

    @Test
    void aDryRunTellsAndChangesNothing() {
        tables.bury(30);
        List<String> before = tables.rows("SELECT work_item_id, status, due_on FROM outbox ORDER BY 1");
        ItemRef one = dead.list(DeadFilter.all(), Page.first(1)).items().get(0).ref();

        ActionResult requeue = dead.requeue(DeadFilter.all(), REQUEUE.asDryRun());
        ActionResult discard = dead.discard(DeadFilter.all().topic("orders"), DISCARD.asDryRun());

        assertThat(requeue.dryRun()).isTrue();
        assertThat(requeue.count()).isEqualTo(30);
        assertThat(requeue.first()).hasSize(20);
        assertThat(requeue.atLeast()).isFalse();
        assertThat(discard.count()).isEqualTo(30);
        assertThat(dead.discard(List.of(one), DISCARD.asDryRun()).count()).isOne();
        assertThat(tables.rows("SELECT work_item_id, status, due_on FROM outbox ORDER BY 1"))
                .isEqualTo(before);
        assertThat(tables.value("SELECT count(*) FROM outbox_audit")).isEqualTo("0");
    }

    @Test
    void onlyWhatIsDeadIsTouched() {
        ItemRef done = new ItemRef(
                TableKind.OUTBOX, tables.enqueue(Message.to("orders").payload("done")));
        tables.deliver();
        ItemRef ready = new ItemRef(
                TableKind.OUTBOX, tables.enqueue(Message.to("orders").payload("ready")));
        ItemRef unknown = new ItemRef(TableKind.OUTBOX, UUID.randomUUID().toString());
        List<String> before = tables.rows("SELECT * FROM outbox ORDER BY sequence");

        for (ActionResult result : List.of(
                dead.requeue(List.of(done, ready, unknown), REQUEUE),
                dead.discard(List.of(done, ready, unknown), DISCARD),
                dead.requeue(DeadFilter.all(), REQUEUE),
                dead.discard(DeadFilter.all(), DISCARD))) {
            assertThat(result.count()).isZero();
        }
        assertThat(dead.discard(List.of(done, ready, unknown), DISCARD).skipped())
                .containsExactlyInAnyOrder(
                        new ActionResult.Skipped(done, "it is not Dead, but DONE"),
                        new ActionResult.Skipped(ready, "it is not Dead, but READY"),
                        new ActionResult.Skipped(unknown, "there is no such item"));
        assertThat(tables.rows("SELECT * FROM outbox ORDER BY sequence")).isEqualTo(before);
        assertThat(tables.value("SELECT count(*) FROM outbox_audit")).isEqualTo("0");
    }

    @Test
    void aDiscardedOutboxItemIsGoneAndWrittenDown() {
        ItemRef ref = tables.dead(Message.to("orders").key("k").payload("secret"), "no route");

        assertThat(dead.discard(List.of(ref), DISCARD).count()).isOne();

        assertThat(tables.value("SELECT count(*) FROM outbox")).isEqualTo("0");
        assertThat(tables.rows("SELECT * FROM outbox_audit"))
                .singleElement()
                .asString()
                .contains("discard|anna|a duplicate order", ref.id(), "orders|k", "no route")
                .doesNotContain("secret");
    }

    @Test
    void aDiscardedInboxItemIsNotNewWhenItComesAgain() {
        Incoming message = Incoming.from("shop", "m-1").topic("orders").key("k").payload("secret");
        ItemRef ref = tables.dead(message, "no stock");

        assertThat(dead.discard(DeadFilter.all(), DISCARD).count()).isOne();

        Receipt again = tables.enqueue(message);
        assertThat(again.isFirst()).isFalse();
        assertThat(tables.inbox.get("shop", "m-1").orElseThrow().status()).isEqualTo(Status.DONE);
        assertThat(tables.value("SELECT payload FROM inbox")).isEqualTo("null");
        assertThat(tables.value("SELECT work_item_id || topic || message_key FROM outbox_audit"))
                .isEqualTo(ref.id() + "ordersk");
    }

    @Test
    void withoutTheAuditTableNothingIsChangedButAllIsSeen() {
        ItemRef ref = tables.dead(Message.to("orders").payload("x"), "no route");
        tables.execute("DROP TABLE outbox_audit");

        assertThatThrownBy(() -> dead.requeue(List.of(ref), REQUEUE))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("public.outbox_audit")
                .hasMessageContaining("installAdmin");
        assertThatThrownBy(() -> dead.discard(DeadFilter.all(), DISCARD)).isInstanceOf(OutboxException.class);
        assertThat(found(DeadFilter.all())).containsExactly(ref);
        assertThat(dead.requeue(List.of(ref), REQUEUE.asDryRun()).count()).isOne();
    }

    @Test
    void wrongInputIsToldClearly() {
        assertThatThrownBy(() -> ItemRef.parse("outbox/42"))
                .hasMessageContaining("UUID")
                .hasMessageContaining("42");
        assertThatThrownBy(() -> ItemRef.parse("orders/42")).hasMessageContaining("outbox/<id>");
        assertThatThrownBy(() -> Page.first(0)).hasMessageContaining("between 1 and 1000, was 0");
        assertThatThrownBy(() -> Page.after("nonsense", 5)).hasMessageContaining("nonsense");
        assertThatThrownBy(() -> dead.list(DeadFilter.all(), Page.after("outbox@7", 5)))
                .hasMessageContaining("not the token of a page");
        assertThatThrownBy(() -> Requeue.by(" ", "x")).hasMessage("actor must not be blank");
        assertThatThrownBy(() -> Discard.by("anna", "")).hasMessage("reason must not be blank");
        assertThatThrownBy(() -> REQUEUE.perSecond(0)).hasMessageContaining("rate must be between 1");
        Admin elsewhere = Admin.of(tables.dataSource).outbox("nowhere").build();
        assertThatThrownBy(() -> elsewhere.deadLetters().list(DeadFilter.all(), Page.first(5)))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("\"nowhere\"")
                .hasMessageContaining("outbox-migrations");
        assertThatThrownBy(() -> elsewhere.deadLetters().list(DeadFilter.all().in(TableKind.INBOX), Page.first(5)))
                .hasMessageContaining("there is no inbox table");
    }

    private List<ItemRef> found(DeadFilter filter) {
        return refs(dead.list(filter, Page.first(10)));
    }

    private static List<ItemRef> refs(ItemPage page) {
        return page.items().stream().map(Item::ref).toList();
    }
}
