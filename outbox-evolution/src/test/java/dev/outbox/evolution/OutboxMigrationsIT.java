package dev.outbox.evolution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Database;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.internal.MigrationDialect;
import dev.outbox.testkit.EmbeddedDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OutboxMigrationsIT {
    private static final EmbeddedDatabase DATABASE = EmbeddedDatabase.create();

    private final DataSource dataSource = DATABASE.dataSource();

    @BeforeEach
    void startAnew() throws SQLException {
        Catalog.execute(dataSource, "DROP SCHEMA IF EXISTS public, \"Shop\" CASCADE");
        Catalog.execute(dataSource, "CREATE SCHEMA public");
        Catalog.execute(dataSource, "CREATE SCHEMA \"Shop\"");
    }

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    @Test
    void installCreatesTheTableWithItsIndexes() throws SQLException {
        OutboxMigrations.install(dataSource);

        assertThat(Catalog.describe(dataSource, "public", "outbox"))
                .contains(
                        "column work_item_id uuid not null identity= collation=- storage=p statistics=-1 default=- comment=- place=1",
                        "constraint TABLE_pkey p valid=true PRIMARY KEY (work_item_id)",
                        "sequence TABLE_sequence_seq cache 1 start 1 increment 1 max 9223372036854775807 i",
                        "comment dev.TABLE phase 4",
                        "option vacuum_truncate=off")
                .filteredOn(line -> line.startsWith("index "))
                .hasSize(9);
    }

    @Test
    void installInboxCreatesTheTableWithItsIndexes() throws SQLException {
        OutboxMigrations.installInbox(dataSource);

        assertThat(Catalog.describe(dataSource, "public", "inbox"))
                .contains(
                        "constraint TABLE_pkey p valid=true PRIMARY KEY (consumer, source, message_id)",
                        "constraint TABLE_finished c valid=true CHECK (((topic IS NOT NULL) OR (status >= 2)))",
                        "sequence TABLE_sequence_seq cache 1 start 1 increment 1 max 9223372036854775807 i",
                        "comment dev.outbox TABLE phase 4",
                        "option vacuum_truncate=off")
                .filteredOn(line -> line.startsWith("index "))
                .hasSize(10);
        assertThat(OutboxMigrations.installInboxIfMissing(dataSource)).isFalse();
        assertThatThrownBy(() -> OutboxMigrations.installInbox(dataSource))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"inbox\" exists already; use installInboxIfMissing(...) to leave it as it is");
    }

    @Test
    void installAdminCreatesWhatIsMissingOfItsTwoTables() throws SQLException {
        assertThat(OutboxMigrations.installAdmin(dataSource)).isTrue();
        assertThat(OutboxMigrations.installAdmin(dataSource)).isFalse();
        Catalog.execute(dataSource, "DROP TABLE outbox_audit");
        assertThat(OutboxMigrations.installAdmin(dataSource)).isTrue();
        assertThat(OutboxMigrations.installAdmin(dataSource, "Shop")).isTrue();

        for (String table : List.of("outbox_audit", "outbox_pollers")) {
            assertThat(Catalog.describe(dataSource, "Shop", table))
                    .isEqualTo(Catalog.describe(dataSource, "public", table))
                    .isNotEmpty();
        }
        Catalog.execute(dataSource, "DROP TABLE outbox_audit, outbox_pollers");
        Catalog.execute(dataSource, OutboxMigrations.renderAdmin(Database.POSTGRES, ""));
        assertThat(OutboxMigrations.installAdmin(dataSource)).isFalse();
    }

    @Test
    void installLookupCreatesIndexesOfAnyOutboxOrInbox() throws SQLException {
        OutboxMigrations.install(dataSource, "Shop.outbox");
        OutboxMigrations.installInbox(dataSource);

        OutboxMigrations.installLookup(dataSource, "Shop.outbox");
        OutboxMigrations.installLookup(dataSource, "inbox");

        assertThat(Catalog.describe(dataSource, "Shop", "outbox"))
                .filteredOn(line -> line.startsWith("index "))
                .hasSize(12);
        assertThat(Catalog.describe(dataSource, "public", "inbox"))
                .filteredOn(line -> line.startsWith("index "))
                .hasSize(13);
        assertThatThrownBy(() -> OutboxMigrations.installLookup(dataSource, "nowhere"))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("nowhere");
    }

    @Test
    void whatIsMissingIsToldWithoutAChange() throws SQLException {
        OutboxMigrations.install(dataSource, "Shop.outbox");

        assertThat(OutboxMigrations.isInstalled(dataSource, "Shop.outbox")).isTrue();
        assertThat(OutboxMigrations.isInstalled(dataSource, "outbox"))
                .as("one of another schema does not count")
                .isFalse();
        assertThat(OutboxMigrations.missingLookup(dataSource, "Shop.outbox"))
                .containsExactly("outbox_by_key", "outbox_by_related", "outbox_by_tenant");

        OutboxMigrations.install(dataSource);
        OutboxMigrations.installLookup(dataSource, "outbox");
        assertThat(OutboxMigrations.missingLookup(dataSource, "outbox")).isEmpty();
        assertThat(OutboxMigrations.missingLookup(dataSource, "Shop.outbox")).hasSize(3);
        assertThatThrownBy(() -> OutboxMigrations.isInstalled(dataSource, "x".repeat(60)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void lookupIndexesAreNamedAsTheScriptsNameThem() {
        for (Database database : Database.values()) {
            assertThat(Pattern.compile("INDEX (?:CONCURRENTLY IF NOT EXISTS )?[\"\\[]outbox(_\\w+)")
                            .matcher(OutboxMigrations.renderLookup(database, "outbox"))
                            .results()
                            .map(index -> index.group(1)))
                    .as("%s", database)
                    .containsExactlyElementsOf(
                            MigrationDialect.of(database).install().lookupSuffixes());
        }
    }

    @Test
    void anInboxHasEveryColumnOfAnOutboxInTheSameShape() throws SQLException {
        OutboxMigrations.install(dataSource);
        OutboxMigrations.installInbox(dataSource);

        assertThat(columns("inbox"))
                .containsAll(columns("outbox").stream()
                        .filter(column -> !column.startsWith("column topic") && !column.startsWith("column message_id"))
                        .toList());
    }

    private List<String> columns(String table) throws SQLException {
        return Catalog.describe(dataSource, "public", table).stream()
                .filter(line -> line.startsWith("column "))
                .map(line -> line.replaceAll(" comment=.*", ""))
                .toList();
    }

    @Test
    void installingTwiceFailsAndSaysWhatToDo() {
        OutboxMigrations.install(dataSource, "Shop.outbox");

        assertThatThrownBy(() -> OutboxMigrations.install(dataSource, "Shop.outbox"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("table \"Shop.outbox\" exists already; use installIfMissing(...) to leave it as it is");
    }

    @Test
    void installIfMissingLeavesWhatIsThere() throws SQLException {
        assertThat(OutboxMigrations.installIfMissing(dataSource)).isTrue();
        Catalog.execute(
                dataSource, "INSERT INTO outbox (work_item_id, topic, payload) VALUES (gen_random_uuid(), 't', 'p')");

        assertThat(OutboxMigrations.installIfMissing(dataSource)).isFalse();

        assertThat(Catalog.exists(dataSource, "outbox")).isTrue();
    }

    @Test
    void ofEightNodesThatStartTogetherOneInstalls() throws Exception {
        CyclicBarrier start = new CyclicBarrier(8);
        ExecutorService nodes = Executors.newFixedThreadPool(8);
        try {
            List<Future<Boolean>> installed = new ArrayList<>();
            for (int node = 0; node < 8; node++) {
                installed.add(nodes.submit(() -> {
                    start.await();
                    return OutboxMigrations.installIfMissing(dataSource, "Shop.Outbox");
                }));
            }
            List<Boolean> answers = new ArrayList<>();
            for (Future<Boolean> answer : installed) {
                answers.add(answer.get());
            }
            assertThat(answers).containsOnlyOnce(true).hasSize(8);
        } finally {
            nodes.shutdownNow();
        }
    }

    @Test
    void theSchemaAndTheCaseOfANameCount() throws SQLException {
        OutboxMigrations.install(dataSource, "outbox");
        OutboxMigrations.install(dataSource, "Outbox");
        OutboxMigrations.install(dataSource, "Shop.outbox");

        assertThat(Catalog.describe(dataSource, "Shop", "outbox"))
                .isEqualTo(Catalog.describe(dataSource, "public", "outbox"));
        assertThat(Catalog.exists(dataSource, "\"Outbox\"")).isTrue();
    }

    @Test
    void aFailedInstallLeavesNothingBehind() throws SQLException {
        Catalog.execute(dataSource, "CREATE TABLE outbox_done ()");

        assertThatThrownBy(() -> OutboxMigrations.install(dataSource))
                .isInstanceOf(OutboxException.class)
                .hasMessageStartingWith(
                        "cannot install table \"outbox\": ERROR: relation \"outbox_done\" already exists");

        assertThat(Catalog.exists(dataSource, "outbox")).isFalse();
    }

    @Test
    void aMissingSchemaIsSaid() {
        assertThatThrownBy(() -> OutboxMigrations.install(dataSource, "nowhere.outbox"))
                .isInstanceOf(OutboxException.class)
                .hasMessage("cannot install table \"nowhere.outbox\": ERROR: schema \"nowhere\" does not exist"
                        + " [SQLState 3F000]");
    }

    @Test
    void theConnectionGoesBackAsItCame() throws SQLException {
        try (HikariDataSource pool = DATABASE.pool(1)) {
            OutboxMigrations.install(pool, "Shop.outbox");
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isTrue();
                assertThat(connection.getSchema()).isEqualTo("public");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "out box", "outbox; DROP TABLE t", "a.b-c", "1st", "out\"box"})
    void aNameThatIsNoPlainNameIsRefused(String table) {
        assertThatThrownBy(() -> OutboxMigrations.install(dataSource, table))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be letters, digits and underscores");
        assertThatThrownBy(() -> OutboxMigrations.render(Database.POSTGRES, table))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aNameLeavesRoomForThoseOfItsIndexes() throws SQLException {
        String longest = "x".repeat(51);
        OutboxMigrations.install(dataSource, longest);

        assertThat(Catalog.describe(dataSource, "public", longest))
                .contains(
                        "constraint TABLE_one_payload c valid=true CHECK ((num_nonnulls(payload, payload_bytes) = 1))");
        assertThatThrownBy(() -> OutboxMigrations.install(dataSource, longest + "x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("table must have at most 51 characters, so that its indexes can be named after it, was \""
                        + longest + "x\"");
    }

    @Test
    void theRenderedInboxIsTheInstalledOne() throws SQLException {
        OutboxMigrations.installInbox(dataSource, "Shop.inbox");
        Catalog.execute(dataSource, OutboxMigrations.renderInbox(Database.POSTGRES, "inbox"));

        assertThat(Catalog.describe(dataSource, "public", "inbox"))
                .isEqualTo(Catalog.describe(dataSource, "Shop", "inbox"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"by_hand", "public.by_hand", "Shop.by_hand"})
    void theRenderedScriptRunStatementByStatementGivesTheSame(String table) throws SQLException {
        OutboxMigrations.install(dataSource, "outbox");
        String schema = table.startsWith("Shop") ? "Shop" : "public";

        // As psql and most tools do: each statement is a transaction of its own.
        try (Connection connection = dataSource.getConnection();
                Statement run = connection.createStatement()) {
            for (String statement : OutboxMigrations.render(Database.POSTGRES, table)
                    .replaceAll("--[^\n]*", "")
                    .split(";\\s*\n")) {
                run.execute(statement);
            }
        }

        assertThat(Catalog.describe(dataSource, schema, "by_hand"))
                .isEqualTo(Catalog.describe(dataSource, "public", "outbox").stream()
                        .map(line -> line.replace("dev.TABLE phase", "dev.outbox phase"))
                        .toList());
    }
}
