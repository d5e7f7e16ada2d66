package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresOutbox;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** Nobody fails and nothing is lost on the way back either. */
class WayBackIT {
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private Legacy legacy;
    private HikariDataSource pool;
    private final Upgrade outbox = hasty(Upgrade.outbox("outbox"));
    private final Upgrade inbox = hasty(Upgrade.inbox("inbox", "billing"));

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

    private static Upgrade hasty(Upgrade upgrade) {
        return upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    }

    private void to(Phase phase, Upgrade... upgrades) {
        for (Upgrade upgrade : upgrades) {
            for (Phase next : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
                if (!phase.before(next)) {
                    upgrade.apply(pool, next);
                    upgrade.backfill().run(pool);
                }
            }
        }
    }

    private Outbox node(Duration refreshInterval) {
        return PostgresOutbox.builder(pool).refreshInterval(refreshInterval).build();
    }

    private void enqueue(Outbox node, String payload) throws SQLException {
        try (Connection tx = pool.getConnection()) {
            tx.setAutoCommit(false);
            node.enqueue(tx, Message.to("t").payload(payload));
            tx.commit();
            tx.setAutoCommit(true);
        }
    }

    @Test
    void newColumnsStayUntilEveryNodeHasHadTheTimeToNotice() throws Exception {
        to(Phase.ADDITIVE, outbox);
        legacy.run("ALTER TABLE outbox ADD COLUMN region text");
        Outbox late = node(Duration.ofMinutes(1));
        Outbox prompt = node(Duration.ofMillis(20));
        PGSimpleDataSource migration = new PGSimpleDataSource();
        migration.setUrl(legacy.jdbcUrl());
        migration.setApplicationName("back");
        CompletableFuture<?> back = CompletableFuture.runAsync(() -> assertThatThrownBy(() -> Upgrade.outbox("outbox")
                        .refreshInterval(Duration.ofHours(1))
                        .back(migration, Phase.LEGACY))
                .isInstanceOf(OutboxException.class));
        await().atMost(PATIENCE)
                .until(() -> legacy.value("SELECT obj_description('outbox'::regclass)")
                        .startsWith("dev.outbox phase 0 since "));

        enqueue(late, "late");
        await("a node that writes old columns only").atMost(PATIENCE).until(() -> {
            enqueue(prompt, "prompt");
            return !legacy.rows("SELECT 1 FROM outbox WHERE legacy_write_on IS NOT NULL")
                    .isEmpty();
        });
        assertThat(legacy.value("SELECT count(*) FROM outbox WHERE [Payload] = 'late' AND payload = 'late'"))
                .isEqualTo("1");
        legacy.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'back'");
        back.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);

        assertThat(outbox.report(pool).findings())
                .extracting(Finding::concern)
                .containsExactly(Finding.Concern.LEAVING);
        outbox.back(pool, Phase.LEGACY);
        outbox.back(pool, Phase.LEGACY);

        enqueue(prompt, "after");
        assertThat(outbox.report(pool).findings()).isEmpty();
        assertThat(legacy.value("SELECT obj_description('outbox'::regclass), count(*) FROM pg_class"
                        + " WHERE relname LIKE 'outbox%' AND relname <> 'outbox_pkey'"))
                .isEqualTo("null,1");
        assertThat(legacy.rows("SELECT region FROM outbox WHERE [Payload] = 'after'"))
                .as("a column of somebody else's")
                .containsExactly("null");
    }

    @Test
    void aWayBackToPhase0CanBeGivenUp() throws SQLException {
        to(Phase.ADDITIVE, outbox);
        String script = outbox.renderBack(pool, Phase.LEGACY);
        legacy.run(script.substring(0, script.indexOf("COMMIT;") + 7));
        assertThat(outbox.phase(pool)).isEqualTo(Phase.LEGACY);
        enqueue(node(Duration.ofMinutes(1)), "between");

        outbox.apply(pool, Phase.ADDITIVE);

        assertThat(outbox.report(pool).findings()).isEmpty();
        assertThat(legacy.value("SELECT topic, payload, sequence > 0 FROM outbox"))
                .isEqualTo("t,between,t");
    }

    private void assertRefused(Upgrade upgrade, Phase phase, String... reasons) {
        assertThatThrownBy(() -> upgrade.back(pool, phase))
                .isInstanceOf(OutboxException.class)
                .hasMessageContainingAll(reasons);
    }

    @Test
    void whatAnEarlierPhaseCannotTellIsNotTakenBackToIt() throws SQLException {
        to(Phase.FLIPPED, outbox);
        legacy.run("""
                INSERT INTO outbox (work_item_id, topic, payload, payload_bytes, message_key, message_id, headers,
                    content_type, tenant_id, priority)
                SELECT gen_random_uuid(), CASE WHEN i = 1 THEN repeat('t', 256) ELSE 't' END,
                    CASE WHEN i <> 2 THEN 'p' END, CASE WHEN i = 2 THEN '\\x00'::bytea END,
                    CASE WHEN i IN (3, 4) THEN 'k' END, CASE WHEN i = 5 THEN 'no uuid' END,
                    CASE WHEN i IN (6, 7, 8) THEN '{}' END, CASE WHEN i = 9 THEN 'c' END, CASE WHEN i = 10 THEN 'x' END,
                    CASE WHEN i = 11 THEN 2 ELSE 1 END
                FROM generate_series(1, 12) i
                """);
        legacy.run("INSERT INTO outbox (work_item_id, topic, payload, message_key, status, headers)"
                + " VALUES (gen_random_uuid(), 't', 'p', 'k', 2, '{}')");

        assertRefused(
                outbox,
                Phase.DUAL,
                "2 unfinished messages have a key, which phase 2 cannot represent; let them finish first",
                "1 unfinished messages have a binary payload",
                "2 unfinished messages have values in new columns that the old ones cannot hold");
        assertThat(outbox.phase(pool)).isEqualTo(Phase.FLIPPED);

        legacy.run("UPDATE outbox SET status = 2, processed_on = now() WHERE message_key IS NOT NULL OR payload IS NULL"
                + " OR length(topic) > 9 OR message_id IS NOT NULL");
        outbox.back(pool, Phase.DUAL);
        assertRefused(
                outbox,
                Phase.ADDITIVE,
                "3 unfinished messages have headers, which phase 1 cannot represent; let them finish first",
                "1 unfinished messages have a content type",
                "1 unfinished messages have a tenant",
                "1 unfinished messages have a priority");

        legacy.run("UPDATE outbox SET status = 2, processed_on = now()"
                + " WHERE headers IS NOT NULL OR content_type IS NOT NULL OR tenant_id IS NOT NULL OR priority <> 1");
        outbox.back(pool, Phase.ADDITIVE);
        legacy.run("UPDATE outbox SET headers = '{}' WHERE status = 0");
        assertRefused(outbox, Phase.LEGACY, "1 unfinished messages have headers, which phase 0 cannot represent");
        assertThat(outbox.phase(pool)).isEqualTo(Phase.ADDITIVE);
    }

    @Test
    void whatAnOldInboxCannotTellApartIsNotTakenBackToIt() throws SQLException {
        to(Phase.FLIPPED, inbox);
        legacy.run(
                "INSERT INTO inbox (work_item_id, consumer, source, message_id, status)"
                        + " VALUES (gen_random_uuid(), 'billing', 'shop', 'm', 2), (gen_random_uuid(), 'billing', 'web', 'm', 2)");
        assertRefused(inbox, Phase.DUAL, "the same message id from several sources");

        legacy.run("UPDATE inbox SET consumer = 'shipping', message_id = repeat('m', 70) WHERE source = 'web'");
        assertRefused(
                inbox,
                Phase.DUAL,
                "1 rows belong to other consumers than billing",
                "1 rows have values in new columns that the old ones cannot hold");

        legacy.run("DELETE FROM inbox WHERE source = 'web'");
        inbox.back(pool, Phase.DUAL);
        inbox.back(pool, Phase.ADDITIVE);
        inbox.back(pool, Phase.LEGACY);
        assertThat(inbox.report(pool).findings()).isEmpty();
    }
}
