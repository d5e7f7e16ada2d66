package dev.outbox.evolution;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.flywaydb.core.Flyway;

/** How a phase is applied to both tables. */
enum UpgradeRoute {
    JAVA {
        @Override
        void apply(Legacy legacy, Phase phase) {
            SyncRightsIT.UPGRADES.forEach(upgrade -> upgrade.apply(legacy.dataSource(), phase));
        }
    },
    SCRIPT {
        @Override
        void apply(Legacy legacy, Phase phase) throws SQLException {
            for (Upgrade upgrade : SyncRightsIT.UPGRADES) {
                try (Connection connection = legacy.dataSource().getConnection()) {
                    PhasesIT.run(connection, upgrade.render(legacy.dataSource(), phase));
                }
            }
        }
    },
    FLYWAY {
        @Override
        void apply(Legacy legacy, Phase phase) {
            Flyway.configure()
                    .dataSource(legacy.dataSource())
                    .locations(OutboxMigrations.upgradeLocation(phase))
                    .placeholders(Map.of(
                            "outbox_table", "outbox",
                            "inbox_table", "inbox",
                            "inbox_consumer", "billing",
                            "outbox_refresh_interval", "PT0S"))
                    .table("history_" + phase)
                    .baselineOnMigrate(true)
                    .baselineVersion("0")
                    .configuration(Map.of("flyway.postgresql.transactional.lock", "false"))
                    .load()
                    .migrate();
        }
    };

    abstract void apply(Legacy legacy, Phase phase) throws SQLException;
}
