package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.WorkQueue;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.postgres.PostgresInbox;
import dev.outbox.postgres.PostgresOutbox;
import dev.outbox.spi.ClaimRequest;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** In every phase an index serves claims, the search for expired leases, and purge: nobody reads the whole table. */
class PhasePlanIT {
    private static final String POLLER = "planned";
    private static final Duration RETENTION = Duration.ofDays(7);

    /** From docs/how-to/migrate-a-legacy-schema.md, for tables that stay in phase 0. */
    private static final String ADVICE = """
            CREATE INDEX CONCURRENTLY outbox_leased_old ON outbox ("Status") WHERE "Status" = 1;
            CREATE INDEX CONCURRENTLY outbox_done_old ON outbox ("ProcessedAt") WHERE "IsProcessed";
            """;

    static List<Spelling> spellings() {
        return PhasesIT.spellings();
    }

    private static Legacy filled(Spelling spelling) throws SQLException {
        Legacy legacy = new Legacy(spelling);
        legacy.run("""
                INSERT INTO outbox ([Topic], [Payload], [Status], [IsProcessed], [ProcessedAt], [LockedUntil])
                SELECT 't', 'p', s, s = 2, CASE WHEN s = 2 THEN now() - i * interval '2 minutes' END,
                    CASE WHEN s = 1 THEN now() - interval '1 hour' END
                FROM (SELECT i, CASE i % 100 WHEN 0 THEN 0 WHEN 50 THEN 1 ELSE 2 END AS s
                    FROM generate_series(1, 6000) i) rows
                """);
        legacy.run("""
                INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload], [Status], [ProcessedUtc], [LockedUntil])
                SELECT 'm' || i, 's', 't', 'p', (ARRAY['Seen', 'Processing', 'Done'])[s + 1],
                    CASE WHEN s = 2 THEN now() - i * interval '2 minutes' END,
                    CASE WHEN s = 1 THEN now() - interval '1 hour' END
                FROM (SELECT i, CASE i % 100 WHEN 0 THEN 0 WHEN 50 THEN 1 ELSE 2 END AS s
                    FROM generate_series(1, 6000) i) rows
                """);
        return legacy;
    }

    private static HikariDataSource pool(Legacy legacy) {
        HikariConfig config = new HikariConfig();
        config.setDataSource(legacy.dataSource());
        config.setConnectionInitSql("SET application_name = '" + POLLER + "'");
        return new HikariDataSource(config);
    }

    private interface Open {
        WorkQueue on(HikariDataSource pool);
    }

    /** Reads of whole tables while a poller of each kind works; a session tells of them when it ends. */
    private static void assertServed(Legacy legacy, String phase) throws SQLException {
        legacy.run("ANALYZE outbox, inbox");
        await("the migration's sessions are gone")
                .atMost(Duration.ofMinutes(2))
                .until(() -> legacy.value("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                                + " AND backend_type = 'client backend' AND pid <> pg_backend_pid()")
                        .equals("0"));
        for (String table : List.of("outbox", "inbox")) {
            Open open = table.equals("outbox")
                    ? PostgresOutbox::create
                    : pool -> PostgresInbox.builder(pool).consumer("billing").build();
            String counts = "SELECT seq_scan FROM pg_stat_user_tables WHERE relname = '" + table + "'";
            String before = legacy.value(counts);
            long used = indexScans(legacy, table);
            try (HikariDataSource pool = pool(legacy)) {
                WorkQueue queue = open.on(pool);
                ClaimRequest request = new ClaimRequest(10, Duration.ofHours(1), 3, Set.of(), "test");
                assertThat(queue.source().claim(request).items()).isNotEmpty();
                queue.purge(RETENTION); // its plan is what counts
            }
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> legacy.value("SELECT count(*) FROM pg_stat_activity WHERE application_name = '"
                                    + POLLER + "' AND datname = current_database()")
                            .equals("0"));
            await().atMost(Duration.ofMinutes(2)).until(() -> indexScans(legacy, table) - used >= 3);
            assertThat(legacy.value(counts)).as(phase + " of the " + table).isEqualTo(before);
        }
    }

    private static long indexScans(Legacy legacy, String table) throws SQLException {
        return Long.parseLong(legacy.value("SELECT idx_scan FROM pg_stat_user_tables WHERE relname = '" + table + "'"));
    }

    private static void run(Legacy legacy, Phase phase) {
        for (Upgrade upgrade : List.of(Upgrade.outbox("outbox"), Upgrade.inbox("inbox", "billing"))) {
            Upgrade hasty = upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
            hasty.apply(legacy.dataSource(), phase);
            if (phase == Phase.ADDITIVE) {
                hasty.backfill().run(legacy.dataSource());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void anIndexServesEveryPhase(Spelling spelling) throws SQLException {
        try (Legacy legacy = filled(spelling)) {
            for (Phase phase : Phase.values()) {
                if (phase != Phase.LEGACY) {
                    run(legacy, phase);
                    assertServed(legacy, phase.toString());
                }
            }
        }
    }

    @Test
    void inPhase0TwoIndexesAreToBeAddedByHand() throws SQLException {
        try (Legacy legacy = filled(Spelling.PASCAL)) {
            for (String index : ADVICE.split(";\n", -1)) {
                legacy.run(index);
            }

            assertServed(legacy, "phase 0");
        }
    }
}
