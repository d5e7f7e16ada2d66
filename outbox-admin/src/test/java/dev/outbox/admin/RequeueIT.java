package dev.outbox.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.OnDead;
import dev.outbox.WorkItem;
import dev.outbox.WorkQueue;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Source;
import dev.outbox.testkit.PostgresExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Dead letters that are put back, what they keep, and which of them are not put back. */
class RequeueIT {
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
    void whatDiesAgainAtOnceIsNotTakenTwice() {
        tables.bury(600);
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
        tables.bury(1_200);

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
}
