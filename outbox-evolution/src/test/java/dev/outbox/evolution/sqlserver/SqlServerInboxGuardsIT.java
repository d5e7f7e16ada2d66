package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Inbox;
import dev.outbox.Incoming;
import dev.outbox.OutboxException;
import dev.outbox.Status;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** A phase of an inbox refuses to run while something is in its way, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerInboxGuardsIT extends WithLegacyInbox {
    @Test
    void anotherConsumerAndTheSameIdOfAnotherSourceAreRefusedUntilTheEnd() {
        legacy();
        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            come(phase);
            Inbox inbox = inbox("billing");
            assertThat(receive(inbox, "m").isFirst()).isEqualTo(phase == Phase.LEGACY);
            assertThatThrownBy(() -> transaction(
                            tx -> inbox.receive(tx, Incoming.from("mall", "m").payload("p"))))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("must be in phase 4 for the same message id from several sources");
            if (phase != Phase.LEGACY) {
                assertThatThrownBy(() -> inbox("shipping"))
                        .isInstanceOf(OutboxException.class)
                        .hasMessageContaining("belongs to consumer billing, was opened for shipping");
            }
        }
        if (!database.isBabelfish()) { // where a table cannot become canonical in all
            come(Phase.CLEAN);
            assertThat(receive(inbox("shipping"), "m").isFirst()).isTrue();
        }
    }

    @Test
    void aPhaseThatMustNotComeYetIsRefusedWithTheReason() throws SQLException {
        LegacyInbox old = legacy();
        old.row("one", "Seen", 20, "orders");
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.DUAL))
                .hasMessageContaining("1 rows are not backfilled; run the backfill");
        come(Phase.DUAL);
        assertThatThrownBy(() -> Upgrade.inbox(table, "shipping").report(migration()))
                .hasMessageContaining("belongs to consumer billing, not to shipping");

        transaction(tx -> old.claim(tx, UUID.randomUUID(), 1));
        assertThatThrownBy(() -> upgrade.quietFor(Duration.ofMinutes(30)).apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows that an old application stored or changed are not backfilled")
                .hasMessageContaining("1 rows were written by an old application");
        upgrade.backfill().run(migration());
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.FLIPPED))
                .as("its lease")
                .hasMessageContaining("1 rows were written by an old application");
        database.execute("DELETE FROM " + table);
        upgrade.apply(migration(), Phase.FLIPPED);
    }

    /** What came between the report and the lock is found under the lock. */
    @Test
    void theFlipItselfRefusesARowThatAnOldApplicationHasJustChanged() throws SQLException {
        LegacyInbox old = legacy();
        old.row("one", "Seen", 20, "orders");
        go(Phase.DUAL);
        List<String> batches =
                List.of(upgrade.render(migration(), Phase.FLIPPED).split("(?m)^GO\\R"));
        int asked = batches.indexOf("COMMIT TRANSACTION;\n");
        SqlServerGuardsIT.run(migration(), batches.subList(0, asked + 1));
        transaction(tx -> old.markProcessed(tx, "one"));

        assertThatThrownBy(() -> SqlServerGuardsIT.run(migration(), batches.subList(asked + 1, batches.size())))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("rows that an old application stored or changed are not backfilled");
        assertThat(upgrade.phase(migration())).isEqualTo(Phase.DUAL);
        upgrade.backfill().run(migration());
        upgrade.apply(migration(), Phase.FLIPPED);
        assertThat(inbox("billing").get("shop", "one").orElseThrow().status()).isEqualTo(Status.DONE);
    }

    @Test
    void arrivalsThatNobodyFinishedAreForgottenByTheFlip() {
        LegacyInbox old = legacy();
        old.row("seen", "Seen", 20, null);
        old.row("processing", "Processing", 20, null);
        old.row("work", "Seen", 20, "orders");
        old.row("done", "Done", 20, null);
        go(Phase.FLIPPED);

        assertThat(database.query("SELECT MessageId FROM " + table)).containsExactlyInAnyOrder("work", "done");
        assertThat(receive(inbox("billing"), "seen").isFirst()).isTrue();
    }
}
