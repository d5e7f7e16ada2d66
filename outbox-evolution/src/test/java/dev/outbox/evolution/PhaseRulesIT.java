package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.WorkItem;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.TransactionalSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the library does with rows that an old application wrote, and when the table changes under it. */
class PhaseRulesIT {
    private static final ClaimRequest CLAIM = new ClaimRequest(100, Duration.ofMinutes(10), 3, Set.of(), "test");

    private Legacy legacy;
    private HikariDataSource pool;

    @BeforeEach
    void open() throws SQLException {
        legacy = new Legacy(Spelling.PASCAL);
        pool = new HikariDataSource();
        pool.setJdbcUrl(legacy.jdbcUrl());
        pool.setMaximumPoolSize(4);
    }

    @AfterEach
    void close() {
        pool.close();
        legacy.close();
    }

    private Outbox outbox() {
        return PostgresOutbox.builder(pool)
                .refreshInterval(Duration.ofMillis(20))
                .build();
    }

    private Inbox inbox(String consumer) {
        return PostgresInbox.builder(pool)
                .consumer(consumer)
                .refreshInterval(Duration.ofMillis(20))
                .build();
    }

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    private void upgrade(Upgrade upgrade, Phase phase) {
        hasty(upgrade).apply(pool, phase);
        if (phase == Phase.ADDITIVE) {
            hasty(upgrade).backfill().run(pool);
        }
    }

    private interface Work<T> {
        T in(Connection tx) throws SQLException;
    }

    private <T> T commit(Work<T> work) throws SQLException {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            T answer = work.in(tx);
            tx.commit();
            tx.setAutoCommit(true);
            return answer;
        }
    }

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
    void whoWritesBothSidesCallsNoTriggerFunction() throws SQLException {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            upgrade(Upgrade.outbox("outbox"), phase);
            Outbox outbox = outbox();
            if (phase.before(Phase.FLIPPED)) { // after that enqueue names new columns only
                refuseTheFunction();
            }
            commit(tx -> outbox.enqueueAll(
                    tx,
                    List.of(
                            Message.to("t").payload("1"),
                            Message.to("t").correlationId("c").payload("2"),
                            Message.to("t").dueIn(Duration.ZERO).payload("3"))));
            commit(tx -> outbox.enqueue(tx, Message.to("t").payload("4")));
            refuseTheFunction();
            Source source = outbox.source();
            Claim claim = source.claim(CLAIM);
            while (claim.items().size() < 2) {
                claim = source.claim(CLAIM);
            }
            String token = claim.ownerToken();
            List<Lease> leases = claim.items().stream()
                    .map(item -> new Lease(item.id(), token))
                    .toList();
            assertThat(source.renew(leases, Duration.ofMinutes(5)).lost()).isEmpty();
            assertThat(source.settle(List.of(
                                    Settlement.retry(leases.get(0), Duration.ZERO, "again"),
                                    Settlement.dead(leases.get(1), "no")))
                            .lost())
                    .isEmpty();
        }
    }

    private void refuseTheFunction() throws SQLException {
        legacy.run("CREATE OR REPLACE FUNCTION \"outbox_sync\"() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'old: % new: %', OLD, NEW; END $$");
    }

    @Test
    void whoHasNotNoticedThatTheOldColumnsAreGoneFailsNowhere() throws SQLException {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            upgrade(Upgrade.outbox("outbox"), phase);
        }
        Outbox outbox = unaware();
        commit(tx -> outbox.enqueueAll(
                tx,
                List.of(
                        Message.to("t").payload("1"),
                        Message.to("t").payload("2"),
                        Message.to("t").payload("3"))));
        TransactionalSource source = (TransactionalSource) outbox.source();
        Claim claim = source.claim(CLAIM);
        List<Lease> leases = claim.items().stream().map(claim::lease).toList();
        assertThat(legacy.rows("SELECT [Status], [RetryCount], [OwnerToken] = owner_token FROM outbox"))
                .containsExactly("1,1,t", "1,1,t", "1,1,t");
        TransactionalSource another = (TransactionalSource) unaware().source();

        upgrade(Upgrade.outbox("outbox"), Phase.CLEAN);

        commit(tx -> outbox.enqueue(tx, Message.to("t").payload("4")));
        Set<Lease> fenced = commit(tx -> source.settle(tx, List.of(Settlement.done(leases.get(0)))));
        assertThat(fenced).isEmpty();
        assertThat(source.renew(List.of(leases.get(1)), Duration.ofMinutes(5)).lost())
                .isEmpty();
        assertThat(another.settle(List.of(Settlement.done(leases.get(1)), Settlement.dead(leases.get(2), "no")))
                        .lost())
                .isEmpty();
        assertThat(unaware().source().claim(CLAIM).items()).hasSize(1);
        assertThat(legacy.rows("SELECT status FROM outbox ORDER BY sequence")).containsExactly("2", "2", "3", "1");
    }

    /** One that looks at the table when it is built, and when a statement fails. */
    private Outbox unaware() {
        return PostgresOutbox.builder(pool)
                .refreshInterval(Duration.ofMinutes(1))
                .build();
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

    @Test
    void aTableWhoseCommentLostThePhaseIsRefused() throws SQLException {
        upgrade(Upgrade.outbox("outbox"), Phase.ADDITIVE);
        legacy.run("COMMENT ON TABLE outbox IS 'orders on their way'");

        assertThatThrownBy(this::outbox)
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public.outbox\" is between two phases of its migration, but its comment does not"
                        + " tell which; restore the line \"dev.outbox phase N\" in it");
    }

    @Test
    void twoColumnsForOneAreAnErrorThatNamesBoth() throws SQLException {
        legacy.run("ALTER TABLE outbox ADD COLUMN created_at timestamptz");

        assertThatThrownBy(this::outbox)
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("CreatedAt, created_at");
    }

    @Test
    void onlyATableOnItsWayIsWatched() throws SQLException {
        legacy.run(LegacyTables.outbox(Spelling.PASCAL, "watched"));
        Outbox watched = watched();
        assertThat(watchers()).hasSize(1);
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            upgrade(Upgrade.outbox("watched"), phase);
        }
        await().atMost(Duration.ofMinutes(1)).until(() -> watchers().isEmpty());

        commit(tx -> watched.enqueue(tx, Message.to("t").key("k").payload("p")));
        assertThat(watched().source().claim(CLAIM).items()).hasSize(1);
        assertThat(watchers()).isEmpty();
    }

    private Outbox watched() {
        return PostgresOutbox.builder(pool)
                .table("watched")
                .refreshInterval(Duration.ofMillis(20))
                .build();
    }

    private static List<Thread> watchers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("outbox-watch-public.watched"))
                .toList();
    }
}
