package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerInbox;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An inbox of the field on its way to the canonical one, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerInboxPhasesIT extends WithLegacyInbox {
    @ParameterizedTest
    @EnumSource
    void aTableThatWentAllTheWayEqualsAFreshOne(LegacyOutbox.Spelling spelling) {
        LegacyInbox old = new LegacyInbox(database, spelling, table);
        old.row("one", "Seen", 1, "orders");
        old.row("two", "Done", 2, null);
        go(Phase.CLEAN);

        assertThat(upgrade.report(migration()).findings()).isEmpty();
        LegacyOutbox.drop(database, "fy");
        OutboxMigrations.installInbox(database.pool(), "fy");
        assertThat(WithLegacyOutbox.catalog(database, table))
                .containsExactlyElementsOf(WithLegacyOutbox.catalog(database, "fy"));
        LegacyOutbox.drop(database, "fy");
        assertThat(database.query("SELECT CONCAT(Consumer, N' ', Source, N' ', MessageId, N' ', Status) FROM " + table
                        + " ORDER BY Sequence"))
                .containsExactly("billing shop one 0", "billing shop two 2");
    }

    @Test
    void rowsOfBeforeAreNumberedInTheOrderOfTheirArrivalUnfinishedOnesFirst() {
        LegacyInbox old = legacy();
        old.row("done", "Done", 9, "orders");
        old.row("third", "Seen", 1, "orders");
        old.row("first", "Processing", 5, "orders");
        old.row("dead", "Dead", 7, "orders");
        old.row("second", "Seen", 3, "orders");
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        upgrade.backfill().batch(2).pause(Duration.ZERO).run(migration());

        assertThat(database.query("SELECT CONCAT(MessageIdNew, N' ', StatusCode) FROM " + table + " ORDER BY Sequence"))
                .containsExactly("first 1", "second 0", "third 0", "done 2", "dead 3");
        assertThat(database.query("SELECT CAST(COUNT(*) AS nvarchar(9)) FROM " + table + " WHERE Differs = 0"
                        + " AND Consumer = N'billing' AND SourceNew = N'shop' AND ReceiptCount = 1 AND Priority = 1"
                        + " AND BlocksKey = 0 AND WorkItemId IS NOT NULL AND CreatedOn = FirstSeenUtc"))
                .containsExactly("5");
    }

    @Test
    void anOldApplicationWorksTheTableUntilTheFlip() throws SQLException {
        LegacyInbox old = legacy();
        for (Phase phase : UNTIL_THE_FLIP) {
            come(phase);
            UUID owner = UUID.randomUUID();
            transaction(tx -> {
                for (int i = 0; i < 3; i++) {
                    old.enqueue(tx, "orders", "shop", phase + " " + i, "p");
                }
            });
            transaction(tx -> {
                List<LegacyInbox.Claimed> claimed = old.claim(tx, owner, 3);
                assertThat(claimed).hasSize(3);
                assertThat(old.acknowledge(tx, owner, claimed.get(0).messageId()))
                        .isTrue();
                assertThat(old.abandon(tx, owner, claimed.get(1).messageId())).isTrue();
                assertThat(old.fail(tx, owner, claimed.get(2).messageId())).isTrue();
            });
            transaction(tx -> assertThat(old.cleanUp(tx)).isPositive());
            transaction(tx -> assertThat(old.acknowledge(
                            tx, owner, old.claim(tx, owner, 9).get(0).messageId()))
                    .isTrue());
            transaction(tx -> old.cleanUp(tx));
            transaction(tx -> assertThat(old.alreadyProcessed(tx, "seen in " + phase, "shop"))
                    .isFalse());
            transaction(tx -> old.markProcessed(tx, "seen in " + phase));
            transaction(tx -> assertThat(old.alreadyProcessed(tx, "seen in " + phase, "shop"))
                    .isTrue());
        }
    }

    @Test
    void whatOldAndNewWriteBothCanRead() throws SQLException {
        LegacyInbox old = legacy();
        for (Phase phase : UNTIL_THE_FLIP) {
            come(phase);
            Inbox inbox = inbox("billing");
            transaction(tx -> old.enqueue(tx, "orders", "shop", "from old", "p"));
            Source source = inbox.source();
            Claim claim = source.claim(request());
            assertThat(claim.items()).hasSize(1);
            assertThat(claim.items().get(0).messageId()).isEqualTo("from old");
            assertThat(claim.items().get(0).source()).isEqualTo("shop");
            Lease lease = new Lease(claim.items().get(0).id(), claim.ownerToken());
            assertThat(source.renew(List.of(lease), Duration.ofMinutes(1)).lost())
                    .isEmpty();
            assertThat(source.settle(List.of(Settlement.done(lease))).lost()).isEmpty();
            transaction(tx ->
                    assertThat(old.alreadyProcessed(tx, "from old", "shop")).isTrue());
            assertThat(inbox.get("shop", "from old").orElseThrow().status()).isEqualTo(Status.DONE);
            if (phase != Phase.LEGACY) {
                assertThat(database.query("SELECT StatusCode FROM " + table)).containsExactly("2");
            }

            assertThat(enqueue(inbox, "from new").isFirst()).isTrue();
            assertThat(enqueue(inbox, "from new").isFirst()).isFalse();
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                List<LegacyInbox.Claimed> claimed = old.claim(tx, owner, 5);
                assertThat(claimed).extracting(LegacyInbox.Claimed::messageId).containsExactly("from new");
                old.acknowledge(tx, owner, "from new");
            });
            database.execute("DELETE FROM " + table);
        }
    }

    /** A row without a topic that nobody finished means: arrived, not processed. */
    @Test
    void whatAnOldApplicationHasSeenButNotProcessedIsFirstAgain() throws SQLException {
        LegacyInbox old = legacy();
        for (Phase phase : UNTIL_THE_FLIP) {
            come(phase);
            Inbox inbox = inbox("billing");
            for (String id : List.of("seen", "processing", "done", "enqueued")) {
                transaction(tx -> old.alreadyProcessed(tx, id, "shop"));
            }
            transaction(tx -> old.markProcessing(tx, "processing"));
            transaction(tx -> old.markProcessed(tx, "done"));

            assertThat(inbox.source().claim(request()).items())
                    .as("rows without a topic")
                    .isEmpty();
            assertThat(receive(inbox, "seen").isFirst()).isTrue();
            assertThat(receive(inbox, "processing").isFirst()).isTrue();
            assertThat(receive(inbox, "seen").isFirst()).isFalse();
            assertThat(receive(inbox, "done").isFirst()).isFalse();
            assertThat(enqueue(inbox, "enqueued").isFirst()).isTrue();
            transaction(
                    tx -> assertThat(old.alreadyProcessed(tx, "seen", "shop")).isTrue());
            database.execute("DELETE FROM " + table);
        }
    }

    @Test
    void whatWasClaimedByItsMessageIdIsSettledAfterTheFlip() {
        legacy();
        go(Phase.DUAL);
        Inbox inbox = inbox("billing");
        enqueue(inbox, "m-1");
        enqueue(inbox, "m-2");
        Source source = inbox.source();
        Claim claim = source.claim(request());
        List<Lease> leases = claim.items().stream()
                .map(item -> new Lease(item.id(), claim.ownerToken()))
                .toList();
        assertThat(leases).hasSize(2);
        upgrade.apply(migration(), Phase.FLIPPED);

        if (database
                .isBabelfish()) { // where after a batch that failed its connection answers nothing: this one notices
            source.claim(request());
            database.pool().getHikariPoolMXBean().softEvictConnections();
        }
        assertThat(source.renew(leases, Duration.ofMinutes(5)).lost()).isEmpty();
        assertThat(source.settle(List.of(Settlement.done(leases.get(0)), Settlement.dead(leases.get(1), "no")))
                        .lost())
                .isEmpty();
        assertThat(database.query("SELECT CONCAT(Status, StatusCode) FROM " + table + " ORDER BY 1"))
                .containsExactly("Dead3", "Done2");
        assertThat(source.settle(List.of(Settlement.done(leases.get(0)))).lost())
                .containsExactly(leases.get(0));
    }

    @Test
    void thereIsAWayBackFromEachPhaseUntilTheCleanUp() throws SQLException {
        LegacyInbox old = legacy();
        List<String> before = WithLegacyOutbox.catalog(database, table);
        go(Phase.FLIPPED);
        Inbox inbox = inbox("billing");
        transaction(tx -> inbox.enqueue(
                tx, Incoming.from("shop", "keyed").topic("orders").key("k").payload("p")));
        assertThatThrownBy(() -> upgrade.back(migration(), Phase.DUAL))
                .hasMessageContaining("unfinished messages have a key, which phase 2 cannot represent");
        database.execute("DELETE FROM " + table);
        enqueue(inbox, "plain");
        for (Phase phase : List.of(Phase.DUAL, Phase.ADDITIVE, Phase.LEGACY)) {
            upgrade.back(migration(), phase);
            assertThat(upgrade.phase(migration())).isEqualTo(phase);
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                assertThat(old.claim(tx, owner, 5))
                        .extracting(LegacyInbox.Claimed::messageId)
                        .containsExactly("plain");
                old.abandon(tx, owner, "plain");
            });
            // where an error in a name ends the transaction, somebody who knows
            Inbox late = database.isBabelfish() ? inbox("billing") : inbox;
            assertThat(receive(late, "by who has not noticed " + phase).isFirst())
                    .isTrue();
        }
        assertThat(WithLegacyOutbox.catalog(database, table)).containsExactlyElementsOf(before);
    }

    /** The caller's transaction goes on, whatever step came in between, and whoever has not noticed. */
    @Test
    void noCallersTransactionFailsBecauseOfAStep() throws SQLException {
        legacy();
        Inbox inbox = SqlServerInbox.builder(database.pool())
                .table(table)
                .consumer("billing")
                .refreshInterval(Duration.ofMinutes(1))
                .build();
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            upgrade.apply(migration(), phase);
            SqlServerDatabase.Work work = tx -> {
                inbox.enqueue(
                        tx,
                        Incoming.from("shop", "work " + phase).topic("orders").payload("p"));
                inbox.receive(tx, Incoming.from("shop", "record " + phase).payload("p"));
            };
            if (database.isBabelfish() && !phase.before(Phase.FLIPPED)) {
                // There such an error ends the transaction: then at least the caller is told.
                assertThatThrownBy(() -> transaction(work)).isInstanceOf(OutboxException.class);
                inbox.source().claim(request());
            }
            transaction(work);
            if (phase.before(Phase.FLIPPED)) {
                upgrade.backfill().run(migration());
            }
        }
        assertThat(database.query("SELECT MessageId FROM " + table)).hasSize(8);
    }
}
