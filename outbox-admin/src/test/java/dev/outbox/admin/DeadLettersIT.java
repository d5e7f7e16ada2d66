package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.OutboxException;
import dev.outbox.Receipt;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.WorkQueue;
import dev.outbox.jdbc.TableKind;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

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
    void whatDiesAgainAtOnceIsNotTakenTwice() {
        bury(600);
        tables.execute("""
                CREATE FUNCTION dies_again() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    NEW.status := 3;
                    NEW.processed_on := clock_timestamp();
                    RETURN NEW;
                END $$;
                CREATE TRIGGER dies_again BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.status = 0)
                    EXECUTE FUNCTION dies_again();
                """);

        assertThat(dead.requeue(DeadFilter.all(), Requeue.by("anna", "fixed")).count())
                .isEqualTo(600);

        assertThat(tables.value("SELECT count(*) FROM outbox_audit")).isEqualTo("600");
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
    void whatIsRequeuedIsDeliveredUnderItsIdWithItsAttemptsForgotten() {
        ItemRef ref = tables.dead(Message.to("orders").key("k").payload("x"), "no route");

        ActionResult result = dead.requeue(List.of(ref), REQUEUE);

        assertThat(result.count()).isOne();
        assertThat(result.first()).extracting(Item::ref).containsExactly(ref);
        assertThat(tables.deliver()).singleElement().satisfies(item -> {
            assertThat(item.id()).isEqualTo(ref.id());
            assertThat(item.attempt()).isOne();
        });
        assertThat(tables.rows("""
                        SELECT action, actor, reason, table_name, work_item_id, topic, message_key, attempt_count, last_error
                        FROM outbox_audit
                        """))
                .containsExactly("requeue|anna|the broker is back|public.outbox|" + ref.id()
                        + "|orders|k|1|dev.outbox.PermanentFailureException: no route");
    }

    @Test
    void whatIsRequeuedIsAsOldAsItsNewDueTime() {
        ItemRef message = tables.dead(Message.to("orders").payload("x"), "no route");
        ItemRef incoming =
                tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("x"), "no stock");
        for (String table : List.of("outbox", "inbox")) {
            tables.execute("UPDATE " + table + " SET created_on = created_on - interval '10 days',"
                    + " first_due_on = statement_timestamp() - interval '9 days'");
        }

        dead.requeue(List.of(message, incoming), REQUEUE);

        ClaimRequest request = new ClaimRequest(10, Duration.ofMinutes(1), 5, Set.of(), "node-1");
        for (WorkQueue queue : List.of(tables.outbox, tables.inbox)) {
            Source source = queue.source();
            Claim claim;
            do {
                claim = source.claim(request);
            } while (claim.items().isEmpty() && claim.more());
            assertThat(claim.items()).singleElement().satisfies(item -> {
                assertThat(item.firstDueOn()).isEqualTo(item.message().due());
                assertThat(Duration.between(item.createdOn(), item.firstDueOn()))
                        .isGreaterThan(Duration.ofDays(9));
            });
        }
    }

    @Test
    void aBlockedKeyIsFreeAgainAndKeepsItsOrder() {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            ids.add(tables.enqueue(Message.to("orders").key("order-42").payload("" + i)));
        }
        tables.killAll("poison", OnDead.BLOCK);
        assertThat(tables.deliver()).isEmpty();

        dead.requeue(DeadFilter.all().key("order-42"), REQUEUE);

        assertThat(tables.value("SELECT bool_or(blocks_key) FROM outbox")).isEqualTo("f");
        assertThat(tables.deliver()).extracting(WorkItem::id).containsExactlyElementsOf(ids);
    }

    @Test
    void aRateSpreadsWhatIsRequeued() {
        bury(1_200);

        ActionResult result = dead.requeue(
                DeadFilter.all(), REQUEUE.delay(Duration.ofMinutes(10)).perSecond(100));

        assertThat(result.count()).isEqualTo(1_200);
        assertThat(result.skippedCount()).isZero();
        assertThat(tables.value("""
                        SELECT count(DISTINCT due_on) >= 1200 AND max(due_on) - min(due_on) > interval '11.9 seconds'
                            AND min(due_on) > statement_timestamp() + interval '5 minutes'
                            AND bool_and(status = 0 AND attempt_count = 0)
                        FROM outbox
                        """)).isEqualTo("t");
        assertThat(tables.value("""
                        SELECT array_agg(sequence ORDER BY due_on) = array_agg(sequence ORDER BY sequence) FROM outbox
                        """)).isEqualTo("t");
        assertThat(tables.value("SELECT count(*) FROM outbox_audit")).isEqualTo("1200");
    }

    @Test
    void aDryRunTellsAndChangesNothing() {
        bury(30);
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
    void whatTheInboxMayHaveForgottenIsRequeuedOnlyByForce() {
        ItemRef old = tables.dead(Incoming.from("shop", "m-1").topic("orders").payload("x"), "e");
        tables.execute("UPDATE inbox SET created_on = created_on - interval '31 days', first_seen_on = first_seen_on"
                + " - interval '31 days'");

        ActionResult refused = dead.requeue(List.of(old), REQUEUE);
        assertThat(refused.count()).isZero();
        assertThat(refused.skipped())
                .singleElement()
                .satisfies(skipped -> assertThat(skipped.reason()).contains("PT720H", "force"));
        assertThat(dead.requeue(DeadFilter.all(), REQUEUE.asDryRun()).skippedCount())
                .isOne();
        assertThat(dead.requeue(DeadFilter.all(), REQUEUE).skippedCount()).isOne();
        assertThat(dead.requeue(List.of(old), REQUEUE.force()).count()).isOne();
        assertThat(tables.value("SELECT status FROM inbox")).isEqualTo("0");
    }

    @Test
    void aRecordThatNoHandlerTakesIsNotRequeuedButCanBeDiscarded() {
        tables.execute("""
                INSERT INTO inbox (work_item_id, consumer, source, message_id, status, processed_on, last_error)
                VALUES (gen_random_uuid(), 'billing', 'shop', 'm-1', 3, statement_timestamp(), 'given up')
                """);

        ActionResult refused = dead.requeue(DeadFilter.all(), REQUEUE.force());
        assertThat(refused.skipped())
                .singleElement()
                .satisfies(skipped -> assertThat(skipped.reason()).contains("no handler"));
        ItemRef ref = refused.skipped().get(0).ref();
        assertThat(dead.show(ref)).isPresent();
        assertThat(dead.discard(List.of(ref), DISCARD).count()).isOne();
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
                .hasMessageContaining("not the end of a page");
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

    /** So many dead rows of an outbox, each a moment after the other. */
    private void bury(int count) {
        tables.execute("""
                INSERT INTO outbox (work_item_id, topic, payload, status, attempt_count, processed_on, last_error)
                SELECT gen_random_uuid(), 'orders', 'x', 3, 5, statement_timestamp() - (? - n) * interval '1 second', 'e'
                FROM generate_series(1, ?) AS n
                """, count, count);
    }

    private List<ItemRef> found(DeadFilter filter) {
        return refs(dead.list(filter, Page.first(10)));
    }

    private static List<ItemRef> refs(ItemPage page) {
        return page.items().stream().map(Item::ref).toList();
    }
}
