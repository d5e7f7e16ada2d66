package dev.outbox.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.testkit.EmbeddedDatabase;
import dev.outbox.testkit.PostgresExtension;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The commands work in a schema whose name has to be quoted. */
class TenantSchemaIT {
    @RegisterExtension
    static final PostgresExtension POSTGRES = PostgresExtension.migratedBy(dataSource -> {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE SCHEMA \"tenant-a\"");
        }
        OutboxMigrations.install(dataSource, "tenant-a.outbox");
        OutboxMigrations.installInbox(dataSource, "tenant-a.inbox");
        OutboxMigrations.installAdmin(dataSource, "tenant-a");
    });

    private TestCli cli;

    @BeforeEach
    void fill(EmbeddedDatabase fresh) throws SQLException {
        Database database = new Database(fresh);
        cli = database.cli().with("OUTBOX_TABLE", "tenant-a.outbox").with("OUTBOX_INBOX_TABLE", "tenant-a.inbox");
        database.execute("""
                INSERT INTO "tenant-a".outbox (work_item_id, topic, message_key, payload, status, processed_on)
                SELECT gen_random_uuid(), 'orders', 'order-' || n, 'x', 2 + n % 2, statement_timestamp() - interval '30 days'
                FROM generate_series(1, 4) AS n
                """);
    }

    @Test
    void everyCommandThatLooksFindsTheTables() {
        succeeds("tenant-a.outbox", "status");
        succeeds("order-2", "find", "--key=order-2");
        succeeds("order-1", "dead", "list");
        assertThat(cli.run("doctor", "--all").out())
                .contains("outbox schema: as installed", "inbox schema: as installed")
                .doesNotContain("FAIL");
    }

    @Test
    void everyCommandThatChangesFindsTheTables() {
        succeeds("2 items", "dead", "requeue", "--all", "--because=why", "--dry-run");
        succeeds("1", "dead", "requeue", "--key=order-1", "--because=why", "--yes");
        succeeds("1", "dead", "discard", "--key=order-3", "--because=why", "--yes");
        succeeds("removed: 2 items", "purge", "--older-than=10d", "--yes");
    }

    private void succeeds(String told, String... command) {
        TestCli.Result result = cli.run(command);

        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.OK);
        assertThat(result.out()).contains(told);
    }
}
