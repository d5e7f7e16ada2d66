package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What the library does with rows that an old application wrote. */
class PhaseRulesIT extends WithLegacyQueues {
    @Test
    void whatAnOldApplicationSawButDidNotFinishIsFirstWhenItComesAgain() throws SQLException {
        OldInbox old = new OldInbox(Spelling.PASCAL, "inbox");
        Inbox inbox = inbox("billing");
        for (String id : List.of("seen", "processing", "done", "enqueued")) {
            commit(tx -> old.alreadyProcessed(tx, id, "shop", null));
        }
        commit(tx -> {
            old.markProcessing(tx, "processing");
            old.markProcessed(tx, "done");
            return null;
        });

        assertThat(inbox.source().claim(CLAIM).items())
                .as("rows without a topic")
                .isEmpty();
        for (String id : List.of("seen", "processing")) {
            assertThat(commit(tx -> inbox.receive(tx, Incoming.from("shop", id).payload("p")))
                            .isFirst())
                    .as(id)
                    .isTrue();
            assertThat(inbox.get("shop", id).orElseThrow().status()).isEqualTo(Status.DONE);
            boolean oldKnows = commit(tx -> old.alreadyProcessed(tx, id, "shop", null));
            assertThat(oldKnows).isTrue();
        }
        assertThat(commit(tx -> inbox.receive(tx, Incoming.from("shop", "done").payload("p")))
                        .isFirst())
                .isFalse();
        assertThat(commit(tx -> inbox.enqueue(
                                tx, Incoming.from("shop", "enqueued").topic("t").payload("p")))
                        .isFirst())
                .isTrue();
        assertThat(inbox.source().claim(CLAIM).items()).hasSize(1);
    }

    @Test
    void fromPhaseThreeOnASkippedItemThatIsRequeuedGoesToTheEndOfItsKey() throws SQLException {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            upgrade(Upgrade.inbox("inbox", "billing"), phase);
        }
        Inbox inbox = inbox("billing");
        for (String id : List.of("first", "second")) {
            commit(tx -> inbox.enqueue(
                    tx, Incoming.from("shop", id).topic("t").key("k").payload("p")));
        }
        commit(tx -> inbox.markDead(tx, "shop", "first", "not yet"));

        inbox.requeue("shop", "first");

        assertThat(inbox.source().claim(CLAIM).items())
                .extracting(WorkItem::messageId)
                .containsExactly("second", "first");
    }

    @Test
    void anotherConsumerThanThatOfTheMigrationIsRefused() {
        upgrade(Upgrade.inbox("inbox", "billing"), Phase.ADDITIVE);

        assertThatThrownBy(() -> inbox("shipping"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public.inbox\" is in phase 1 and belongs to consumer billing, was opened"
                        + " for shipping; several consumers need phase 3: apply the migrations up to that"
                        + " phase first");
    }

    @Test
    void whatWasClaimedByItsMessageIdIsSettledAfterItGotAnotherId() throws SQLException {
        Inbox inbox = inbox("billing");
        commit(tx -> inbox.enqueueAll(
                tx,
                List.of(
                        Incoming.from("shop", "m-1").topic("t").payload("p"),
                        Incoming.from("shop", "m-2").topic("t").payload("p"))));
        Source source = inbox.source();
        upgrade(Upgrade.inbox("inbox", "billing"), Phase.ADDITIVE);
        Claim claim = source.claim(CLAIM);
        List<Lease> leases = claim.items().stream()
                .map(item -> new Lease(item.id(), claim.ownerToken()))
                .toList();
        upgrade(Upgrade.inbox("inbox", "billing"), Phase.DUAL);
        awaitIdsOfItsOwn(inbox);

        assertThat(source.renew(leases, Duration.ofMinutes(5)).lost()).isEmpty();
        assertThat(source.settle(List.of(Settlement.done(leases.get(0)), Settlement.dead(leases.get(1), "no")))
                        .lost())
                .isEmpty();
        assertThat(legacy.rows("SELECT [Status], status FROM inbox WHERE [Topic] = 't' ORDER BY status"))
                .containsExactly("Done,2", "Dead,3");
        assertThat(source.settle(List.of(Settlement.done(leases.get(0)))).lost())
                .containsExactly(leases.get(0));
    }

    /** Such leases are those of a node that has gone back to an earlier phase. */
    @Test
    void aLeaseThatAnOldInboxCannotNameIsFenced() throws SQLException {
        Source source = inbox("billing").source();
        Lease lease = new Lease(UUID.randomUUID().toString(), UUID.randomUUID().toString());

        assertThat(source.settle(List.of(Settlement.done(lease))).lost()).containsExactly(lease);
        assertThat(source.renew(List.of(lease), Duration.ofMinutes(5)).lost()).containsExactly(lease);
    }

    /** A fresh item tells by its id that the library has noticed. */
    private void awaitIdsOfItsOwn(Inbox inbox) {
        await().atMost(Duration.ofMinutes(1)).until(() -> {
            String id = String.valueOf(System.nanoTime());
            commit(tx ->
                    inbox.enqueue(tx, Incoming.from("shop", id).topic("probe").payload("")));
            ClaimRequest probe = new ClaimRequest(100, Duration.ofMinutes(10), 3, Set.of("probe"), "test");
            return inbox.source().claim(probe).items().stream()
                    .noneMatch(item -> item.id().startsWith("message "));
        });
    }

    @Test
    void aStatusThatNobodyKnowsIsLeftAlone() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload], [Status], [LockedUntil])"
                + " SELECT 't', 'p', 7, now() - interval '1 hour' UNION ALL SELECT 't', 'p', 0, NULL");
        Outbox outbox = outbox();

        assertThat(outbox.source().claim(CLAIM).items()).hasSize(1);
        assertThat(outbox.source().claim(CLAIM).dead()).isEmpty();
        assertThat(outbox.purge(Duration.ZERO)).isZero();

        assertThat(legacy.rows("SELECT [Status] FROM outbox ORDER BY [Status]")).containsExactly("1", "7");
    }

    @Test
    void whatOldApplicationsCallProcessedIsNotClaimed() throws SQLException {
        legacy.run("INSERT INTO outbox ([Topic], [Payload], [Status], [IsProcessed])"
                + " SELECT 't', 'p', 0, processed FROM (VALUES (true), (false)) AS r(processed)");

        assertThat(outbox().source().claim(CLAIM).items()).hasSize(1);
        assertThat(legacy.rows("SELECT [Status] FROM outbox WHERE [IsProcessed]"))
                .containsExactly("0");
    }

    @Test
    void purgeGoesByWhatOldApplicationsCallProcessed() throws SQLException {
        legacy.run(
                "INSERT INTO outbox ([Topic], [Payload], [Status], [IsProcessed], [ProcessedAt])"
                        + " SELECT 't', 'p', status, processed, now() - age * interval '1 day'"
                        + " FROM (VALUES (2, true, 8), (2, true, 6), (0, true, 8), (3, false, 8)) AS r(status, processed, age)");

        assertThat(outbox().purge(Duration.ofDays(7))).isEqualTo(2);
        assertThat(legacy.rows("SELECT [Status] FROM outbox ORDER BY 1")).containsExactly("2", "3");
    }

    @Test
    void aTextThatTheOldColumnCannotHoldIsRefused() throws SQLException {
        Inbox inbox = inbox("billing");

        assertThatThrownBy(() -> commit(tx ->
                        inbox.receive(tx, Incoming.from("shop", "m".repeat(65)).payload("p"))))
                .isInstanceOf(OutboxException.class)
                .hasMessage("message_id has 65 characters, but in phase 0 of the schema table \"public.inbox\""
                        + " holds at most 64; shorten it, or apply the migrations up to phase 4 first");
    }
}
