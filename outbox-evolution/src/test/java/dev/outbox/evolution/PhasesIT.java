package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Phase;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class PhasesIT {
    @ParameterizedTest
    @EnumSource
    void aTableThatWentAllTheWayEqualsAFreshlyInstalledOne(Spelling spelling) throws Exception {
        try (Legacy legacy = new Legacy(spelling)) {
            legacy.run("INSERT INTO outbox ([Topic], [Payload]) SELECT 't' || i, 'p' FROM generate_series(1, 100) i");
            legacy.run("INSERT INTO inbox ([MessageId], [Source], [Topic], [Payload]) SELECT 'm' || i, 's', 't', 'p'"
                    + " FROM generate_series(1, 100) i");
            for (Upgrade upgrade : new Upgrade[] {Upgrade.outbox("outbox"), Upgrade.inbox("inbox", "billing")}) {
                Upgrade hasty = upgrade.refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
                hasty.apply(legacy.dataSource(), Phase.ADDITIVE);
                assertThat(hasty.backfill().run(legacy.dataSource())).isEqualTo(100);
                hasty.apply(legacy.dataSource(), Phase.DUAL);
                hasty.apply(legacy.dataSource(), Phase.FLIPPED);
                hasty.apply(legacy.dataSource(), Phase.SETTLING);
                hasty.apply(legacy.dataSource(), Phase.CLEAN);
                assertThat(hasty.phase(legacy.dataSource())).isEqualTo(Phase.CLEAN);
            }
            legacy.run("CREATE SCHEMA fresh");
            OutboxMigrations.install(legacy.dataSource(), "fresh.outbox");
            OutboxMigrations.installInbox(legacy.dataSource(), "fresh.inbox");

            assertThat(Catalog.describe(legacy.dataSource(), "public", "outbox"))
                    .containsExactlyElementsOf(Catalog.describe(legacy.dataSource(), "fresh", "outbox"));
            assertThat(Catalog.describe(legacy.dataSource(), "public", "inbox"))
                    .containsExactlyElementsOf(Catalog.describe(legacy.dataSource(), "fresh", "inbox"));
        }
    }
}
