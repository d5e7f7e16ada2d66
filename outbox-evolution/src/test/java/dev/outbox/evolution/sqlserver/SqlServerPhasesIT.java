package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.sqlserver.OnServer;
import dev.outbox.sqlserver.Server;
import dev.outbox.sqlserver.SqlServerDatabase;
import dev.outbox.sqlserver.SqlServerOutbox;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An outbox of the field on its way to the canonical one, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerPhasesIT extends WithLegacyOutbox {
    @ParameterizedTest
    @EnumSource
    void aTableThatWentAllTheWayEqualsAFreshOne(LegacyOutbox.Spelling spelling) {
        LegacyOutbox old = new LegacyOutbox(database, spelling, table);
        old.row("one", 0, 1, null);
        old.row("two", 2, 2, null);
        go(Phase.CLEAN);

        assertThat(upgrade.report(migration()).findings()).isEmpty();
        LegacyOutbox.drop(database, "fx");
        OutboxMigrations.install(database.pool(), "fx");
        assertThat(catalog(database, table)).containsExactlyElementsOf(catalog(database, "fx"));
    }

    @Test
    void rowsOfBeforeAreNumberedInTheOrderOfTheirCreationUnfinishedOnesFirst() {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("done", 2, 9, null);
        old.row("third", 0, 1, null);
        old.row("first", 0, 5, "not now");
        old.row("second", 3, 7, "refused");
        old.row("second of the unfinished", 0, 3, null);
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        List<String> progress = new ArrayList<>();
        upgrade.backfill()
                .batch(2)
                .pause(Duration.ZERO)
                .listener(p -> progress.add(p.toString()))
                .run(migration());

        assertThat(database.query("SELECT Payload FROM " + table + " ORDER BY Sequence"))
                .containsExactly("first", "second of the unfinished", "third", "done", "second");
        assertThat(database.query("SELECT CAST(MAX(Sequence) AS nvarchar(20)) FROM " + table))
                .containsExactly("5");
        assertThat(progress).hasSize(3);
        assertThat(
                        database.query(
                                "SELECT COUNT(*) FROM " + table
                                        + " WHERE Priority = 1 AND BlocksKey = 0 AND MessageIdNew = LOWER(CAST(MessageId AS nvarchar(36)))"))
                .containsExactly("5");
        assertThat(database.query("SELECT Payload FROM " + table + " WHERE ProcessedAt IS NOT NULL ORDER BY Payload"))
                .containsExactly("done", "second");
    }

    @Test
    void anOldApplicationWorksTheTableUntilTheFlip() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL)) {
            if (phase != Phase.LEGACY) {
                upgrade.apply(migration(), phase);
                upgrade.backfill().run(migration());
            }
            UUID owner = UUID.randomUUID();
            transaction(tx -> {
                for (int i = 0; i < 3; i++) {
                    old.enqueue(tx, "orders", phase + " " + i);
                }
            });
            transaction(tx -> {
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 3);
                assertThat(claimed)
                        .extracting(LegacyOutbox.Claimed::payload)
                        .allMatch(payload -> payload.startsWith(phase.toString()));
                assertThat(old.acknowledge(tx, owner, claimed.get(0).id())).isTrue();
                assertThat(old.reschedule(tx, owner, claimed.get(1).id())).isTrue();
                assertThat(old.fail(tx, owner, claimed.get(2).id())).isTrue();
            });
            transaction(tx -> assertThat(old.cleanUp(tx)).isEqualTo(1));
            transaction(tx -> assertThat(old.acknowledge(
                            tx, owner, old.claim(tx, owner, 9).get(0).id()))
                    .isTrue());
            transaction(tx -> old.cleanUp(tx));
        }
    }

    @Test
    void whatOldAndNewWriteBothCanRead() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL)) {
            upgrade.apply(migration(), phase);
            Outbox outbox = outbox();
            UUID[] stored = new UUID[1];
            transaction(tx -> stored[0] = old.enqueue(tx, "orders", "from old"));
            Claim claim = outbox.source().claim(request());
            assertThat(claim.items()).hasSize(1);
            assertThat(claim.items().get(0).messageId()).isEqualTo(stored[0].toString());
            outbox.source()
                    .settle(List.of(
                            Settlement.done(new Lease(claim.items().get(0).id(), claim.ownerToken()))));
            assertThat(database.query(
                            "SELECT CONCAT(Status, IsProcessed, AttemptCount, CASE WHEN ProcessedOn = ProcessedAt"
                                    + " THEN N' equal' END) FROM " + table))
                    .containsExactly("211 equal");
            String id = UUID.randomUUID().toString();
            database.commit(outbox, List.of(Message.to("orders").id(id).payload("from new")));
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 5);
                assertThat(claimed)
                        .extracting(message -> message.messageId().toString())
                        .containsExactly(id);
                old.acknowledge(tx, owner, claimed.get(0).id());
            });
            database.execute("DELETE FROM " + table);
        }
    }

    @Test
    void whatALaterPhaseNeedsIsRefusedAtTheCall() {
        new LegacyOutbox(database, LegacyOutbox.Spelling.SNAKE, table);
        assertRefused(Message.to("orders").header("a", "b").payload(""), "must be in phase 2 for headers");
        go(Phase.DUAL);
        database.commit(outbox(), List.of(Message.to("orders").header("a", "b").payload("")));
        assertRefused(Message.to("orders").key("k").payload(""), "must be in phase 3 for a key");
        assertRefused(
                Message.to("orders").id("17").payload(""), "must be in phase 4 for a message id that is not a UUID");
        upgrade.apply(migration(), Phase.FLIPPED);
        Message keyed = Message.to("orders").key("k").payload("");
        database.commit(outbox(), List.of(keyed));
    }

    @Test
    void thereIsAWayBackFromEachPhaseUntilTheCleanUp() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        List<String> before = catalog(database, table);
        go(Phase.FLIPPED);
        Outbox outbox = outbox();
        database.commit(outbox, List.of(Message.to("orders").key("k").payload("keyed")));
        assertThatThrownBy(() -> upgrade.back(migration(), Phase.DUAL))
                .hasMessageContaining("unfinished messages have a key, which phase 2 cannot represent");
        database.execute("DELETE FROM " + table);
        String id = UUID.randomUUID().toString();
        database.commit(outbox, List.of(Message.to("orders").id(id).payload("plain")));
        for (Phase phase : List.of(Phase.DUAL, Phase.ADDITIVE, Phase.LEGACY)) {
            upgrade.back(migration(), phase);
            assertThat(upgrade.phase(migration())).isEqualTo(phase);
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 5);
                assertThat(claimed)
                        .extracting(message -> message.messageId().toString())
                        .containsExactly(id);
                old.reschedule(tx, owner, claimed.get(0).id());
            });
            // where an error in a name ends the transaction, somebody who knows
            Outbox late = database.isBabelfish() ? outbox() : outbox;
            database.commit(late, List.of(Message.to("gone").payload("by who has not noticed")));
            database.execute("DELETE FROM " + table + " WHERE Topic = N'gone'");
        }
        assertThat(catalog(database, table)).containsExactlyElementsOf(before);
    }

    /** The caller's transaction goes on, whatever step came in between, and whoever has not noticed. */
    @Test
    void noCallersTransactionFailsBecauseOfAStep() throws SQLException {
        new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        database.execute("DROP TABLE IF EXISTS x_orders");
        database.execute("CREATE TABLE x_orders (Id int NOT NULL)");
        Outbox outbox = SqlServerOutbox.builder(database.pool())
                .table(table)
                .refreshInterval(Duration.ofMinutes(1))
                .build();
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            upgrade.apply(migration(), phase);
            SqlServerDatabase.Work order = tx -> {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("INSERT INTO x_orders VALUES (" + phase.number() + ")");
                }
                outbox.enqueue(tx, Message.to("orders").payload(phase.toString()));
            };
            if (database.isBabelfish() && !phase.before(Phase.FLIPPED)) {
                // There such an error ends the transaction: then at least the caller is told.
                assertThatThrownBy(() -> transaction(order)).isInstanceOf(OutboxException.class);
                outbox.source().claim(request());
            }
            transaction(order);
            if (phase.before(Phase.FLIPPED)) {
                upgrade.backfill().run(migration());
            }
        }
        assertThat(database.query("SELECT CAST(Id AS nvarchar(9)) FROM x_orders ORDER BY Id"))
                .containsExactly("1", "2", "3", "4");
        assertThat(database.query("SELECT Payload FROM " + table + " ORDER BY Sequence"))
                .containsExactly("phase 1", "phase 2", "phase 3", "phase 4");
    }
}
