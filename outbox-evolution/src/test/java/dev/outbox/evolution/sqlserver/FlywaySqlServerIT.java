package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import dev.outbox.jdbc.Database;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.internal.parser.ParsingContext;
import org.flywaydb.core.internal.resource.StringResource;
import org.flywaydb.core.internal.sqlscript.SqlStatement;
import org.flywaydb.core.internal.sqlscript.SqlStatementIterator;
import org.flywaydb.database.sqlserver.SQLServerParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/** The SQL Server scripts by Flyway: read without a server, run where there is one. */
class FlywaySqlServerIT {
    private static final String LEGACY_OUTBOX = """
            CREATE TABLE flyway_outbox (
                Id uniqueidentifier NOT NULL PRIMARY KEY, MessageId uniqueidentifier NOT NULL,
                Topic nvarchar(255) NOT NULL, Payload nvarchar(max) NOT NULL, CreatedAt datetimeoffset NOT NULL,
                IsProcessed bit NOT NULL, ProcessedAt datetimeoffset NULL, ProcessedBy nvarchar(100) NULL,
                RetryCount int NOT NULL, LastError nvarchar(max) NULL, CorrelationId nvarchar(255) NULL,
                DueTimeUtc datetimeoffset NULL, Status tinyint NOT NULL, LockedUntil datetimeoffset NULL,
                OwnerToken uniqueidentifier NULL)
            """;

    private static final String LEGACY_INBOX = """
            CREATE TABLE flyway_inbox (
                MessageId varchar(64) NOT NULL PRIMARY KEY, Source varchar(64) NOT NULL, Hash binary(32) NULL,
                FirstSeenUtc datetime2(3) NOT NULL, LastSeenUtc datetime2(3) NOT NULL, ProcessedUtc datetime2(3) NULL,
                DueTimeUtc datetimeoffset(3) NULL, Attempts int NOT NULL, Status varchar(16) NOT NULL,
                LastError nvarchar(max) NULL, LockedUntil datetimeoffset(3) NULL, OwnerToken uniqueidentifier NULL,
                Topic nvarchar(128) NULL, Payload nvarchar(max) NULL)
            """;

    private static FluentConfiguration configuration(String location, String placeholder, String table) {
        return Flyway.configure()
                .locations(location)
                .placeholders(Map.of(placeholder, table))
                .table(table + "_history")
                .baselineOnMigrate(true)
                .baselineVersion("0");
    }

    /** What Flyway would send, batch by batch. */
    private static List<String> batches(String script, String placeholder, String table) throws IOException {
        FluentConfiguration configuration = configuration("classpath:none", placeholder, table);
        List<String> batches = new ArrayList<>();
        try (InputStream in =
                FlywaySqlServerIT.class.getResourceAsStream("/dev/outbox/migrations/sqlserver/" + script)) {
            String text = new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
            SQLServerParser parser = new SQLServerParser(configuration, new ParsingContext());
            try (SqlStatementIterator statements = parser.parse(new StringResource(text))) {
                while (statements.hasNext()) {
                    SqlStatement statement = statements.next();
                    batches.add(statement.getSql().strip());
                }
            }
        }
        return batches;
    }

    @Test
    void flywayReadsTheScriptsAsOneBatchWithTheNamesInIt() throws IOException {
        assertThat(batches("install/V1__outbox.sql", "outbox_table", "shop_outbox"))
                .singleElement()
                .satisfies(batch -> assertThat(OutboxMigrations.render(Database.SQLSERVER, "shop_outbox"))
                        .contains(batch.substring(batch.indexOf("SET ANSI_NULLS"))));
        assertThat(batches("inbox/V1__inbox.sql", "inbox_table", "shop_inbox"))
                .singleElement()
                .satisfies(batch -> assertThat(OutboxMigrations.renderInbox(Database.SQLSERVER, "shop_inbox"))
                        .contains(batch.substring(batch.indexOf("SET ANSI_NULLS"))));
    }

    @Test
    @EnabledIfEnvironmentVariable(
            named = "OUTBOX_SQLSERVER_URL",
            matches = ".+",
            disabledReason = "OUTBOX_SQLSERVER_URL is not set")
    void flywayInstallsOutboxAndInbox() throws SQLException {
        String url = System.getenv("OUTBOX_SQLSERVER_URL");
        drop(url);
        try {
            for (String kind : List.of("outbox", "inbox")) {
                String location = kind.equals("outbox")
                        ? OutboxMigrations.SQLSERVER_LOCATION
                        : OutboxMigrations.SQLSERVER_INBOX_LOCATION;
                Flyway flyway = configuration(location, kind + "_table", "flyway_" + kind)
                        .dataSource(
                                url, System.getenv("OUTBOX_SQLSERVER_USER"), System.getenv("OUTBOX_SQLSERVER_PASSWORD"))
                        .load();

                assertThat(flyway.migrate().migrationsExecuted).isOne();
                assertThat(flyway.migrate().migrationsExecuted).isZero();
            }
        } finally {
            drop(url);
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(
            named = "OUTBOX_SQLSERVER_URL",
            matches = ".+",
            disabledReason = "OUTBOX_SQLSERVER_URL is not set")
    void flywayTakesALegacyOutboxToItsFirstPhase() throws SQLException {
        String url = System.getenv("OUTBOX_SQLSERVER_URL");
        drop(url);
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            statement.execute(LEGACY_OUTBOX);
            Flyway flyway = configuration(
                            OutboxMigrations.upgradeLocation(Phase.ADDITIVE), "outbox_table", "flyway_outbox")
                    .dataSource(url, System.getenv("OUTBOX_SQLSERVER_USER"), System.getenv("OUTBOX_SQLSERVER_PASSWORD"))
                    .load();

            assertThat(flyway.migrate().migrationsExecuted).isOne();
            assertThat(flyway.migrate().migrationsExecuted).isZero();
            assertThat(Upgrade.outbox("flyway_outbox")
                            .phase(flyway.getConfiguration().getDataSource()))
                    .isEqualTo(Phase.ADDITIVE);
        } finally {
            drop(url);
        }
    }

    @Test
    @EnabledIfEnvironmentVariable(
            named = "OUTBOX_SQLSERVER_URL",
            matches = ".+",
            disabledReason = "OUTBOX_SQLSERVER_URL is not set")
    void flywayTakesLegacyTablesThroughAllPhases() throws SQLException {
        String url = System.getenv("OUTBOX_SQLSERVER_URL");
        drop(url);
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            statement.execute(LEGACY_INBOX);
            try {
                statement.execute("ALTER TABLE flyway_inbox ALTER COLUMN LastError nvarchar(max) NULL");
            } catch (SQLException e) {
                abort("the server cannot change whether a column allows null: error " + e.getErrorCode());
            }
            statement.execute(LEGACY_OUTBOX);
            statement.execute(
                    "INSERT INTO flyway_outbox (Id, MessageId, Topic, Payload, CreatedAt, IsProcessed,"
                            + " RetryCount, Status) VALUES (NEWID(), NEWID(), N't', N'p', '2026-01-01T00:00:00+00:00', 0, 0, 0)");
            statement.execute("INSERT INTO flyway_inbox (MessageId, Source, FirstSeenUtc, LastSeenUtc, ProcessedUtc,"
                    + " Attempts, Status) VALUES ('m', 'shop', '2026-01-01', '2026-01-01', '2026-01-01', 1, 'Done')");
            Upgrade outbox = Upgrade.outbox("flyway_outbox");
            Upgrade inbox = Upgrade.inbox("flyway_inbox", "billing");

            for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
                Flyway flyway = configuration(OutboxMigrations.upgradeLocation(phase), "outbox_table", "flyway_outbox")
                        .placeholders(Map.of(
                                "outbox_table",
                                "flyway_outbox",
                                "inbox_table",
                                "flyway_inbox",
                                "inbox_consumer",
                                "billing",
                                "outbox_refresh_interval",
                                "PT0S"))
                        .ignoreMigrationPatterns("*:missing")
                        .dataSource(
                                url, System.getenv("OUTBOX_SQLSERVER_USER"), System.getenv("OUTBOX_SQLSERVER_PASSWORD"))
                        .load();

                assertThat(flyway.migrate().migrationsExecuted).isOne();
                assertThat(flyway.migrate().migrationsExecuted).isZero();
                DataSource dataSource = flyway.getConfiguration().getDataSource();
                assertThat(outbox.phase(dataSource)).isEqualTo(phase);
                assertThat(inbox.phase(dataSource)).isEqualTo(phase);
                if (phase == Phase.CLEAN) {
                    assertThat(outbox.report(dataSource).findings()).isEmpty();
                    assertThat(inbox.report(dataSource).findings()).isEmpty();
                }
            }
        } finally {
            drop(url);
        }
    }

    private static Connection connect(String url) throws SQLException {
        return DriverManager.getConnection(
                url, System.getenv("OUTBOX_SQLSERVER_USER"), System.getenv("OUTBOX_SQLSERVER_PASSWORD"));
    }

    private static void drop(String url) throws SQLException {
        try (Connection connection = connect(url);
                Statement statement = connection.createStatement()) {
            for (String table : List.of("flyway_outbox", "flyway_inbox")) {
                statement.execute("DROP TABLE IF EXISTS " + table);
                statement.execute("DROP TABLE IF EXISTS " + table + "_history");
                statement.execute("DROP TABLE IF EXISTS " + table + "_backfill");
                statement.execute("DROP SEQUENCE IF EXISTS " + table + "_sequence");
            }
        }
    }
}
