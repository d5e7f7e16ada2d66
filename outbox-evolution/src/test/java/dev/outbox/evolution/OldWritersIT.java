package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding.Concern;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** An old application is noticed whatever it writes, and not mistaken for one of ours. */
class OldWritersIT {
    private static final Upgrade OUTBOX = hasty(Upgrade.outbox("outbox"));
    private static final Duration LONG = Duration.ofHours(1);

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    private static void to(Phase phase, Legacy legacy) {
        for (Phase next : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            if (!phase.before(next)) {
                OUTBOX.apply(legacy.dataSource(), next);
                OUTBOX.backfill().run(legacy.dataSource());
            }
        }
    }

    private static boolean seen(Legacy legacy) {
        return OUTBOX.quietFor(LONG).report(legacy.dataSource()).findings().stream()
                .anyMatch(finding -> finding.concern() == Concern.OLD_WRITER);
    }

    private interface Work {
        void in(Connection tx) throws SQLException;
    }

    private static void commit(Legacy legacy, Work work) throws SQLException {
        try (Connection tx = legacy.dataSource().getConnection()) {
            tx.setAutoCommit(false);
            work.in(tx);
            tx.commit();
        }
    }

    /** Everything that ours does to a row, so that none of it looks like an old application's work. */
    private static void work(Legacy legacy) throws SQLException {
        Outbox outbox = PostgresOutbox.builder(legacy.dataSource())
                .refreshInterval(Duration.ofMinutes(1))
                .build();
        commit(
                legacy,
                tx -> outbox.enqueueAll(
                        tx,
                        List.of(
                                Message.to("t").payload("done"),
                                Message.to("t").payload("retry"),
                                Message.to("t").payload("release"),
                                Message.to("t").payload("dead"),
                                Message.to("t").payload("expired"))));
        Source source = outbox.source();
        Claim claim = source.claim(new ClaimRequest(5, LONG, 3, Set.of(), "test"));
        List<Lease> leases = claim.items().stream()
                .map(item -> new Lease(item.id(), claim.ownerToken()))
                .toList();
        assertThat(source.renew(leases, LONG).lost()).isEmpty();
        assertThat(source.settle(List.of(
                                Settlement.done(leases.get(0)),
                                Settlement.retry(leases.get(1), Duration.ZERO, "again"),
                                Settlement.release(leases.get(2), true),
                                Settlement.dead(leases.get(3), "no")))
                        .lost())
                .isEmpty();
        legacy.run("UPDATE outbox SET locked_until = now() - interval '1 hour' WHERE status = 1");
        outbox.source().claim(new ClaimRequest(5, LONG, 3, Set.of(), "test"));
        assertThat(outbox.purge(Duration.ZERO)).isOne();
    }

    @ParameterizedTest
    @EnumSource(names = {"ADDITIVE", "DUAL"})
    void aClaimOfColumnsThatBothSidesShareIsNoticed(Phase phase) throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.SNAKE)) {
            to(phase, legacy);
            work(legacy);
            assertThat(seen(legacy)).isFalse();
            legacy.run("UPDATE outbox SET status = 0, owner_token = NULL, locked_until = NULL, due_on = now()");

            OldApplication old = new OldApplication(Spelling.SNAKE, "outbox");
            commit(legacy, tx -> assertThat(old.claim(tx, UUID.randomUUID(), 1)).hasSize(1));

            assertThat(seen(legacy)).isTrue();
            assertThat(legacy.value("SELECT count(*) FROM outbox WHERE legacy_write_on IS NOT NULL AND status = 1"))
                    .isEqualTo("1");
        }
    }

    @Test
    void aLeaseThatIsGivenBackByColumnsThatBothSidesShareIsNoticed() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.SNAKE)) {
            to(Phase.DUAL, legacy);
            work(legacy);
            legacy.run("INSERT INTO outbox (work_item_id, id, topic, payload, status, attempt_count, locked_until)"
                    + " SELECT i, i, 't', 'p', 1, 1, now() FROM gen_random_uuid() i");
            assertThat(seen(legacy)).isFalse();

            OldApplication old = new OldApplication(Spelling.SNAKE, "outbox");
            commit(legacy, tx -> assertThat(old.reapExpired(tx)).isOne());

            assertThat(seen(legacy)).isTrue();
        }
    }

    @Test
    void inPhase3AClaimOfColumnsThatBothSidesShareIsRefused() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.SNAKE)) {
            to(Phase.FLIPPED, legacy);
            work(legacy);
            assertThat(seen(legacy)).isFalse();
            legacy.run("UPDATE outbox SET status = 0, owner_token = NULL, locked_until = NULL, due_on = now()");

            OldApplication old = new OldApplication(Spelling.SNAKE, "outbox");
            assertThatThrownBy(() -> commit(legacy, tx -> old.claim(tx, UUID.randomUUID(), 1)))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("table public.outbox is in phase 3: its old columns are only read");

            assertThat(legacy.value("SELECT count(*) FROM outbox WHERE status = 1"))
                    .isEqualTo("0");
            assertThat(seen(legacy)).isTrue();
        }
    }

    @Test
    void anOldProducerIsRememberedWhenItsRowsAreGone() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            OldApplication old = new OldApplication(Spelling.PASCAL, "outbox");
            to(Phase.DUAL, legacy);
            for (Phase next : List.of(Phase.FLIPPED, Phase.CLEAN)) {
                commit(legacy, tx -> old.enqueue(tx, "t", "p", null, null));
                legacy.run("DELETE FROM outbox");

                String refusal =
                        "an application wrote columns that are going to be dropped, and only those, within the last"
                                + " PT1H; stop the last old application, and wait that long";
                assertThatThrownBy(() -> OUTBOX.quietFor(LONG).apply(legacy.dataSource(), next))
                        .isInstanceOf(OutboxException.class)
                        .hasMessageContaining("is not ready for " + next + ": " + refusal);
                OUTBOX.apply(legacy.dataSource(), next);
            }
        }
    }

    @Test
    void anOldProducerKeepsATableFromTheRenaming() throws SQLException {
        try (Legacy legacy = new Legacy(Spelling.SNAKE)) {
            to(Phase.FLIPPED, legacy);
            OldApplication old = new OldApplication(Spelling.SNAKE, "outbox");
            commit(legacy, tx -> old.enqueue(tx, "t", "p", null, null));

            assertThatThrownBy(() -> OUTBOX.quietFor(LONG).apply(legacy.dataSource(), Phase.RENAMING))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("is not ready for phase 3 renaming: an application wrote columns");
        }
    }

    @ParameterizedTest
    @EnumSource
    void inPhase3WhatAnOldProducerSaysIsNotReplacedByDefaults(Spelling spelling) throws SQLException {
        try (Legacy legacy = new Legacy(spelling)) {
            to(Phase.FLIPPED, legacy);
            legacy.run("INSERT INTO outbox ([Topic], [Payload], [Status], [CreatedAt], [RetryCount], [ProcessedAt])"
                    + " VALUES ('t', 'p', 3, '2020-01-01Z', 4, '2020-01-02Z')");
            legacy.run("INSERT INTO outbox ([Topic], [Payload], [IsProcessed]) VALUES ('t', 'q', true)");

            assertThat(legacy.rows("SELECT status, created_on = '2020-01-01Z', attempt_count,"
                            + " processed_on = '2020-01-02Z', [Status], [CreatedAt] = created_on, [IsProcessed]"
                            + " FROM outbox WHERE [Payload] = 'p'"))
                    .containsExactly("3,t,4,t,3,t,f");
            assertThat(legacy.rows("SELECT status, processed_on IS NOT NULL, [Status], [IsProcessed]"
                            + " FROM outbox WHERE [Payload] = 'q'"))
                    .containsExactly("2,t,2,t");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whoeverMayWriteTheTableMayWriteIt(boolean sinceBefore) throws SQLException {
        String role = "old_" + UUID.randomUUID().toString().replace("-", "");
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            if (!sinceBefore) {
                to(Phase.ADDITIVE, legacy);
            }
            legacy.run("CREATE ROLE " + role);
            legacy.run("GRANT SELECT, INSERT, UPDATE ON outbox TO " + role);
            OldApplication old = new OldApplication(Spelling.PASCAL, "outbox");
            for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL)) {
                to(phase, legacy);
                try (Connection connection = legacy.dataSource().getConnection();
                        Statement statement = connection.createStatement()) {
                    statement.execute("SET ROLE " + role);
                    old.enqueue(connection, "t", "p", null, null);
                    UUID owner = UUID.randomUUID();
                    UUID id = old.claim(connection, owner, 1).get(0).id();
                    assertThat(old.acknowledge(connection, owner, id)).isTrue();
                }
            }
            assertThat(legacy.value("SELECT count(*), count(sequence) FROM outbox WHERE status = 2"))
                    .isEqualTo("2,2");
            assertThat(seen(legacy)).isTrue();
            OUTBOX.apply(legacy.dataSource(), Phase.FLIPPED);
            try (Connection connection = legacy.dataSource().getConnection();
                    Statement statement = connection.createStatement()) {
                statement.execute("SET ROLE " + role);
                old.enqueue(connection, "t", "late", null, null);
            }
            assertThat(legacy.value("SELECT count(*) FROM outbox WHERE status = 0"))
                    .isEqualTo("1");
            legacy.run("DROP OWNED BY " + role);
            legacy.run("DROP ROLE " + role);
        }
    }
}
