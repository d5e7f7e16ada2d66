package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.SQLException;
import java.util.Map;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.output.MigrateResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FlywayIT {
    private final EmbeddedDatabase database = EmbeddedDatabase.create();

    @AfterEach
    void drop() {
        database.close();
    }

    private MigrateResult migrate(String schema, String table) {
        return migrate(schema, table, OutboxMigrations.POSTGRES_LOCATION, "outbox_table");
    }

    private MigrateResult migrate(String schema, String table, String location, String placeholder) {
        return Flyway.configure()
                .dataSource(database.dataSource())
                .schemas(schema)
                .locations(location)
                .placeholders(Map.of(placeholder, table))
                .table(table + "_history")
                // The schema is not empty any more when the application, or another outbox, was there first.
                .baselineOnMigrate(true)
                .baselineVersion("0")
                .load()
                .migrate();
    }

    @Test
    void flywayInstallsTheSame() throws SQLException {
        assertThat(migrate("shop", "outbox").migrationsExecuted).isOne();
        OutboxMigrations.install(database.dataSource(), "outbox");

        assertThat(Catalog.describe(database.dataSource(), "shop", "outbox"))
                .isEqualTo(Catalog.describe(database.dataSource(), "public", "outbox"));
    }

    @Test
    void flywayInstallsTheSameInboxBesideAnOutbox() throws SQLException {
        assertThat(migrate("shop", "outbox").migrationsExecuted).isOne();
        assertThat(migrate("shop", "inbox", OutboxMigrations.POSTGRES_INBOX_LOCATION, "inbox_table").migrationsExecuted)
                .isOne();
        OutboxMigrations.installInbox(database.dataSource());

        assertThat(Catalog.describe(database.dataSource(), "shop", "inbox"))
                .isEqualTo(Catalog.describe(database.dataSource(), "public", "inbox"));
    }

    @Test
    void flywayInstallsTheSameTablesForOperators() throws SQLException {
        assertThat(migrate("shop", "admin", OutboxMigrations.POSTGRES_ADMIN_LOCATION, "none").migrationsExecuted)
                .isEqualTo(2);
        OutboxMigrations.installAdmin(database.dataSource());

        for (String table : new String[] {"outbox_audit", "outbox_pollers"}) {
            assertThat(Catalog.describe(database.dataSource(), "shop", table))
                    .isEqualTo(Catalog.describe(database.dataSource(), "public", table));
        }
    }

    @Test
    void aHistoryOfItsOwnLetsItLiveBesideTheApplicationsScriptsAndOtherOutboxes() throws SQLException {
        assertThat(migrate("shop", "first").migrationsExecuted).isOne();
        assertThat(migrate("shop", "second").migrationsExecuted).isOne();
        assertThat(migrate("shop", "second").migrationsExecuted).isZero();

        for (String table : new String[] {"first", "first_history", "second", "second_history"}) {
            assertThat(Catalog.exists(database.dataSource(), "shop." + table)).isTrue();
        }
        assertThat(OutboxMigrations.installIfMissing(database.dataSource(), "shop.first"))
                .isFalse();
    }
}
