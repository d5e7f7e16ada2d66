package dev.outbox.migrations;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.jdbc.Phase;
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
            statement.execute("""
                    CREATE TABLE flyway_outbox (
                        Id uniqueidentifier NOT NULL PRIMARY KEY, MessageId uniqueidentifier NOT NULL,
                        Topic nvarchar(255) NOT NULL, Payload nvarchar(max) NOT NULL, CreatedAt datetimeoffset NOT NULL,
                        IsProcessed bit NOT NULL, ProcessedAt datetimeoffset NULL, ProcessedBy nvarchar(100) NULL,
                        RetryCount int NOT NULL, LastError nvarchar(max) NULL, CorrelationId nvarchar(255) NULL,
                        DueTimeUtc datetimeoffset NULL, Status tinyint NOT NULL, LockedUntil datetimeoffset NULL,
                        OwnerToken uniqueidentifier NULL)
                    """);
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
                statement.execute("DROP SEQUENCE IF EXISTS " + table + "_sequence");
            }
        }
    }
}
