package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How long an upgrade locks a table, and what it does when others have locked it. */
class UpgradeLocksIT extends WithLegacyTables {
    @Test
    void unfinishedArrivalsAreRemovedInSmallTransactions() throws SQLException {
        legacy.run("INSERT INTO inbox ([MessageId], [Source], [Status]) SELECT 'm' || i, 's',"
                + " CASE WHEN i % 10 = 0 THEN 'Done' ELSE 'Seen' END FROM generate_series(1, 3000) i");
        inbox.apply(legacy.dataSource(), Phase.ADDITIVE);
        inbox.backfill().run(legacy.dataSource());
        inbox.apply(legacy.dataSource(), Phase.DUAL);
        legacy.run("CREATE TABLE removed (tx xid8, rows int)");
        legacy.run("""
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    INSERT INTO removed SELECT pg_current_xact_id(), count(*) FROM gone;
                    RETURN NULL;
                END $$
                """);
        legacy.run("CREATE TRIGGER note AFTER DELETE ON inbox REFERENCING OLD TABLE AS gone FOR EACH STATEMENT"
                + " EXECUTE FUNCTION note()");

        inbox.apply(legacy.dataSource(), Phase.FLIPPED);

        assertThat(legacy.value("SELECT count(*), min([Status]) FROM inbox")).isEqualTo("300,Done");
        assertThat(legacy.value("SELECT sum(rows), max(rows), count(DISTINCT tx) FROM removed"))
                .isEqualTo("2700,1000,3");
    }

    /** It leaves when it has been in the way for a second, {@code deadlock_timeout}. */
    @Test
    void anAutovacuumDoesNotStopAChange() throws SQLException {
        legacy.run(
                "INSERT INTO outbox ([Topic], [Payload]) SELECT 't', repeat('p', 1000) FROM generate_series(1, 5000)");
        legacy.run("ALTER TABLE outbox SET (autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1,"
                + " autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0)");
        legacy.run("DELETE FROM outbox WHERE ctid IN (SELECT ctid FROM outbox LIMIT 100)");
        legacy.run("ALTER SYSTEM SET autovacuum = on");
        legacy.run("ALTER SYSTEM SET autovacuum_naptime = '1s'");
        try {
            legacy.run("SELECT pg_reload_conf()");
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> legacy.value(
                                    "SELECT count(*) FROM pg_stat_progress_vacuum WHERE relid = 'outbox'::regclass")
                            .equals("1"));

            outbox.apply(legacy.dataSource(), Phase.ADDITIVE);

            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
        } finally {
            legacy.run("ALTER SYSTEM RESET autovacuum");
            legacy.run("ALTER SYSTEM RESET autovacuum_naptime");
            legacy.run("SELECT pg_reload_conf()");
        }
    }

    /** It may have to be repeated many times, and others wait meanwhile. */
    @Test
    void noTransactionThatLocksTheTableLooksThroughItsRows() throws SQLException {
        try (Legacy snake = new Legacy(Spelling.SNAKE)) {
            List<String> scripts = new ArrayList<>();
            for (Phase phase : EnumSet.range(Phase.ADDITIVE, Phase.CLEAN)) {
                scripts.add(inbox.render(snake.dataSource(), phase));
                inbox.apply(snake.dataSource(), phase);
                if (phase == Phase.ADDITIVE) {
                    scripts.add(inbox.renderBack(snake.dataSource(), Phase.LEGACY));
                } else if (phase == Phase.FLIPPED) {
                    scripts.add(inbox.renderBack(snake.dataSource(), Phase.DUAL));
                }
            }
            List<String> locking = scripts.stream()
                    .flatMap(script -> Arrays.stream(script.split("COMMIT;")))
                    .filter(transaction -> transaction.contains("DROP COLUMN") || transaction.contains("ADD COLUMN"))
                    .toList();
            assertThat(locking).hasSizeGreaterThan(3).noneMatch(transaction -> transaction.contains("count(*) FILTER"));
        }
    }

    @Test
    void aChangeThatFindsTheTableLockedStepsBackAndTriesAgain() throws Exception {
        try (Connection holder = legacy.dataSource().getConnection();
                Statement hold = holder.createStatement()) {
            holder.setAutoCommit(false);
            hold.execute("INSERT INTO outbox (\"Topic\", \"Payload\") VALUES ('t', 'p')");

            Upgrade hasty = outbox.lockTimeout(Duration.ofMillis(50), Duration.ofMillis(1));
            assertThatThrownBy(() -> hasty.apply(legacy.dataSource(), Phase.ADDITIVE))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("canceling statement due to lock timeout");
            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.LEGACY);

            Thread patient = new Thread(() -> outbox.lockTimeout(Duration.ofMillis(50), Duration.ofMinutes(5))
                    .apply(legacy.dataSource(), Phase.ADDITIVE));
            patient.start();
            while (patient.isAlive()
                    && legacy.value("SELECT count(*) FROM pg_locks WHERE NOT granted")
                            .equals("0")) {
                Thread.onSpinWait();
            }
            holder.commit();
            patient.join(300_000);
            assertThat(outbox.phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
        }
    }
}
