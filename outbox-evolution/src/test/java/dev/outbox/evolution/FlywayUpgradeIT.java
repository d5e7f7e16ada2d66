package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;

class FlywayUpgradeIT {
    private static int migrate(Legacy legacy, Phase phase) {
        return Flyway.configure()
                .dataSource(legacy.dataSource())
                .locations(OutboxMigrations.upgradeLocation(phase))
                .placeholders(Map.of("outbox_table", "outbox", "inbox_table", "inbox", "inbox_consumer", "billing"))
                .table("outbox_upgrade_history")
                .baselineOnMigrate(true)
                .baselineVersion("0")
                // Its lock would otherwise be an open transaction, which a concurrent index build waits for.
                .configuration(Map.of("flyway.postgresql.transactional.lock", "false"))
                .ignoreMigrationPatterns("*:missing")
                .load()
                .migrate()
                .migrationsExecuted;
    }

    @Test
    void eachPhaseIsALocationOfItsOwn() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            legacy.run("INSERT INTO outbox ([Topic], [Payload]) VALUES ('t', 'p')");

            assertThat(migrate(legacy, Phase.ADDITIVE)).isOne();
            assertThat(migrate(legacy, Phase.ADDITIVE)).isZero();
            assertThat(Upgrade.outbox("outbox").phase(legacy.dataSource())).isEqualTo(Phase.ADDITIVE);
            assertThat(migrate(legacy, Phase.DUAL)).isOne();
            assertThat(Upgrade.inbox("inbox", "billing").phase(legacy.dataSource()))
                    .isEqualTo(Phase.DUAL);
        }
    }

    /** Inboxes of this spelling have old columns with canonical names, so they need the renaming. */
    @Test
    void theLocationsLeadAllTheWay() throws Exception {
        try (Legacy legacy = PhasesIT.filled(Spelling.SNAKE)) {
            for (Phase phase : EnumSet.complementOf(EnumSet.of(Phase.LEGACY))) {
                migrate(
                        legacy,
                        phase,
                        Map.of("inbox_table", "inbox", "inbox_consumer", "billing", "outbox_refresh_interval", "PT0S"));
            }
            PhasesIT.assertEqualFresh(legacy);
        }
    }

    @Test
    void applicationsThatLookRarelyAreGivenTheirTime() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            for (Phase phase : new Phase[] {Phase.ADDITIVE, Phase.DUAL}) {
                Upgrade.outbox("outbox").apply(legacy.dataSource(), phase);
            }
            assertThatThrownBy(() -> migrate(legacy, Phase.FLIPPED, Map.of("outbox_refresh_interval", "PT30M")))
                    .hasStackTraceContaining("it came to phase 2 less than PT1H ago");
            assertThatThrownBy(() -> migrate(legacy, Phase.FLIPPED, Map.of("outbox_refresh_interval", "soon")))
                    .hasStackTraceContaining(
                            "the placeholder outbox_refresh_interval must be a duration such as PT30S, was soon");
        }
    }

    private static void migrate(Legacy legacy, Phase phase, Map<String, String> more) {
        Map<String, String> placeholders = new HashMap<>(more);
        placeholders.put("outbox_table", "outbox");
        Flyway.configure()
                .dataSource(legacy.dataSource())
                .locations(OutboxMigrations.upgradeLocation(phase))
                .placeholders(placeholders)
                .table("history_" + UUID.randomUUID())
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .configuration(Map.of("flyway.postgresql.transactional.lock", "false"))
                .load()
                .migrate();
    }

    @Test
    void whatWouldRefuseIsAskedBeforeFlywayIsCalled() throws Exception {
        try (Legacy legacy = new Legacy(Spelling.PASCAL)) {
            Upgrade outbox = Upgrade.outbox("outbox");
            outbox.requireReady(legacy.dataSource(), Phase.ADDITIVE);
            assertThat(migrate(legacy, Phase.ADDITIVE)).isOne();
            assertThat(migrate(legacy, Phase.DUAL)).isOne();

            assertThatThrownBy(() -> outbox.requireReady(legacy.dataSource(), Phase.FLIPPED))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("is not ready for phase 3: it came to phase 2 less than PT10S ago");
        }
    }
}
