package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.TransactionalSource;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** How an outbox and an inbox notice the phase of their table, and what they do until they have. */
class NoticedPhaseIT extends WithLegacyQueues {
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
    void aTableWhoseCommentLostThePhaseIsRefused() throws SQLException {
        upgrade(Upgrade.outbox("outbox"), Phase.ADDITIVE);
        legacy.run("COMMENT ON TABLE outbox IS 'orders on their way'");

        assertThatThrownBy(this::outbox)
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"public.outbox\" is between two phases of its migration, but its comment does not"
                        + " say which; restore the line \"dev.outbox phase N\" in it");
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
