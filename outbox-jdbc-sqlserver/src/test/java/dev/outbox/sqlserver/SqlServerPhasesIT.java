package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.outbox.Message;
import dev.outbox.Outbox;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.OutboxMigrations;
import dev.outbox.migrations.Upgrade;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import dev.outbox.spi.Lease;
import dev.outbox.spi.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** An outbox of the field on its way to the canonical one, on the server given. */
@OnServer(Server.GIVEN)
class SqlServerPhasesIT {
    private static final AtomicInteger TABLES = new AtomicInteger();

    /** Each test has one of its own: what a driver has prepared may outlive a table. */
    private final String table = "x" + TABLES.incrementAndGet();

    private final Upgrade upgrade =
            Upgrade.outbox(table).refreshInterval(Duration.ZERO).quietFor(Duration.ZERO);
    private SqlServerDatabase database;

    @BeforeEach
    void open() {
        database = Server.GIVEN.database(Server.Variant.AS_IT_IS);
    }

    @AfterEach
    void drop() {
        LegacyOutbox.drop(database, table);
    }

    @ParameterizedTest
    @EnumSource
    void aTableThatWentAllTheWayEqualsAFreshOne(LegacyOutbox.Spelling spelling) {
        LegacyOutbox old = new LegacyOutbox(database, spelling, table);
        old.row("one", 0, 1, null);
        old.row("two", 2, 2, null);
        go(Phase.CLEAN);

        assertThat(upgrade.report(migration()).findings()).isEmpty();
        LegacyOutbox.drop(database, "fx");
        OutboxMigrations.install(database.pool(), "fx");
        assertThat(catalog(database, table)).containsExactlyElementsOf(catalog(database, "fx"));
    }

    @Test
    void rowsOfBeforeAreNumberedInTheOrderOfTheirCreationUnfinishedOnesFirst() {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("done", 2, 9, null);
        old.row("third", 0, 1, null);
        old.row("first", 0, 5, "not now");
        old.row("second", 3, 7, "refused");
        old.row("second of the unfinished", 0, 3, null);
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        List<String> progress = new ArrayList<>();
        upgrade.backfill()
                .batch(2)
                .pause(Duration.ZERO)
                .listener(p -> progress.add(p.toString()))
                .run(migration());

        assertThat(database.query("SELECT Payload FROM " + table + " ORDER BY Sequence"))
                .containsExactly("first", "second of the unfinished", "third", "done", "second");
        assertThat(database.query("SELECT CAST(MAX(Sequence) AS nvarchar(20)) FROM " + table))
                .containsExactly("5");
        assertThat(progress).hasSize(3);
        assertThat(
                        database.query(
                                "SELECT COUNT(*) FROM " + table
                                        + " WHERE Priority = 1 AND BlocksKey = 0 AND MessageIdNew = LOWER(CAST(MessageId AS nvarchar(36)))"))
                .containsExactly("5");
        assertThat(database.query("SELECT Payload FROM " + table + " WHERE ProcessedAt IS NOT NULL ORDER BY Payload"))
                .containsExactly("done", "second");
    }

    @Test
    void anOldApplicationWorksTheTableUntilTheFlip() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL)) {
            if (phase != Phase.LEGACY) {
                upgrade.apply(migration(), phase);
                upgrade.backfill().run(migration());
            }
            UUID owner = UUID.randomUUID();
            transaction(tx -> {
                for (int i = 0; i < 3; i++) {
                    old.enqueue(tx, "orders", phase + " " + i);
                }
            });
            transaction(tx -> {
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 3);
                assertThat(claimed)
                        .extracting(LegacyOutbox.Claimed::payload)
                        .allMatch(payload -> payload.startsWith(phase.toString()));
                assertThat(old.acknowledge(tx, owner, claimed.get(0).id())).isTrue();
                assertThat(old.reschedule(tx, owner, claimed.get(1).id())).isTrue();
                assertThat(old.fail(tx, owner, claimed.get(2).id())).isTrue();
            });
            transaction(tx -> assertThat(old.cleanUp(tx)).isEqualTo(1));
            transaction(tx -> assertThat(old.acknowledge(
                            tx, owner, old.claim(tx, owner, 9).get(0).id()))
                    .isTrue());
            transaction(tx -> old.cleanUp(tx));
        }
    }

    @Test
    void whatOldAndNewWriteBothCanRead() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL)) {
            upgrade.apply(migration(), phase);
            Outbox outbox = outbox();
            UUID[] stored = new UUID[1];
            transaction(tx -> stored[0] = old.enqueue(tx, "orders", "from old"));
            Claim claim = outbox.source().claim(request());
            assertThat(claim.items()).hasSize(1);
            assertThat(claim.items().get(0).messageId()).isEqualTo(stored[0].toString());
            outbox.source()
                    .settle(List.of(
                            Settlement.done(new Lease(claim.items().get(0).id(), claim.ownerToken()))));
            assertThat(database.query(
                            "SELECT CONCAT(Status, IsProcessed, AttemptCount, CASE WHEN ProcessedOn = ProcessedAt"
                                    + " THEN N' equal' END) FROM " + table))
                    .containsExactly("211 equal");
            String id = UUID.randomUUID().toString();
            database.commit(outbox, List.of(Message.to("orders").id(id).payload("from new")));
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 5);
                assertThat(claimed)
                        .extracting(message -> message.messageId().toString())
                        .containsExactly(id);
                old.acknowledge(tx, owner, claimed.get(0).id());
            });
            database.execute("DELETE FROM " + table);
        }
    }

    @Test
    void aPhaseThatMustNotComeYetIsRefusedWithTheReason() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("is in phase 0 and cannot go to phase 2");
        upgrade.apply(migration(), Phase.ADDITIVE);
        forgetNumbers();
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows are not backfilled; run the backfill");
        upgrade.backfill().run(migration());
        upgrade.apply(migration(), Phase.DUAL);

        transaction(tx -> old.enqueue(tx, "orders", "by an old producer"));
        Upgrade careful = upgrade.quietFor(Duration.ofMinutes(10));
        assertThatThrownBy(() -> careful.apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows that an old application stored are not backfilled")
                .hasMessageContaining("1 rows were written by an old application within the last PT10M");
        upgrade.backfill().run(migration());
        transaction(tx -> old.claim(tx, UUID.randomUUID(), 1));
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows were written by an old application");
        database.execute("DELETE FROM " + table);
        assertThatThrownBy(() -> upgrade.refreshInterval(Duration.ofHours(1)).apply(migration(), Phase.FLIPPED))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("it came to phase 2 less than PT2H ago");
        database.execute("DROP VIEW IF EXISTS old_report");
        database.execute("CREATE VIEW old_report AS SELECT CreatedAt FROM " + table);
        try {
            upgrade.apply(migration(), Phase.FLIPPED);
            assertThatThrownBy(() -> upgrade.apply(migration(), Phase.CLEAN))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageMatching("(?is).*dbo.old_report names the table and createdat.*");
        } finally {
            database.execute("DROP VIEW IF EXISTS old_report");
        }
    }

    /** What came between the report and the lock is found under the lock. */
    @Test
    void theFlipItselfRefusesARowThatAnOldProducerHasJustStored() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        go(Phase.DUAL);
        List<String> batches = batches(Phase.FLIPPED);
        int asked = batches.indexOf("COMMIT TRANSACTION;\n");
        run(migration(), batches.subList(0, asked + 1));
        transaction(tx -> old.enqueue(tx, "orders", "late"));

        assertThatThrownBy(() -> run(migration(), batches.subList(asked + 1, batches.size())))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("rows that an old application stored are not backfilled");
        assertThat(upgrade.phase(migration())).isEqualTo(Phase.DUAL);
    }

    @Test
    void theOldMessageIdIsNotDroppedWhileARowHasNoOther() {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        go(Phase.FLIPPED);
        List<String> id = database.query("SELECT MessageIdNew FROM " + table);
        database.execute("UPDATE " + table + " SET MessageIdNew = NULL");
        assertThatThrownBy(() -> upgrade.apply(migration(), Phase.CLEAN))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("1 rows have their message id in the old column only");
        upgrade.backfill().run(migration());
        upgrade.apply(migration(), Phase.CLEAN);

        assertThat(database.query("SELECT MessageId FROM " + table)).isEqualTo(id);
    }

    @Test
    void whatHoldsOnToTheTableIsRefusedBeforeAnythingIsChanged() {
        new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        database.execute("ALTER TABLE " + table + " ADD CONSTRAINT retries CHECK (RetryCount >= 0)");
        database.execute("DROP PROCEDURE IF EXISTS old_retry");
        database.execute("CREATE PROCEDURE old_retry AS UPDATE " + table + " SET RetryCount = 0");
        database.execute("DROP TABLE IF EXISTS x_sent");
        database.execute("CREATE TABLE x_sent (Id uniqueidentifier CONSTRAINT sent REFERENCES " + table + " (Id))");
        try {
            go(Phase.DUAL);
            assertThatThrownBy(() -> upgrade.apply(migration(), Phase.FLIPPED))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageMatching("(?is).*procedure or trigger dbo.old_retry names the table and retrycount.*")
                    .hasMessageMatching("(?is).*check constraint \\w+ names retrycount.*");
            assertThat(upgrade.report(migration()).obstacles(Phase.CLEAN).toString())
                    .containsIgnoringCase("of dbo.x_sent refers to the table");
        } finally {
            database.execute("DROP TABLE x_sent");
            database.execute("DROP PROCEDURE old_retry");
        }
    }

    /** As most tools do: they say what went wrong and go on. */
    @Test
    void whoRunsAScriptOnAfterItsRefusalChangesNothing() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        old.row("one", 0, 20, null);
        go(Phase.FLIPPED);
        List<String> batches = batches(Phase.CLEAN);
        database.execute("UPDATE " + table + " SET MessageIdNew = NULL");
        List<String> before = catalog(database, table);
        try (Connection connection = migration().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("SET NOEXEC ON");
            statement.execute("CREATE TABLE x_probe (Id int)");
            statement.execute("SET NOEXEC OFF");
            assumeTrue(
                    database.query("SELECT OBJECT_ID(N'x_probe')").contains(null),
                    "the server does not know SET NOEXEC");
            List<String> errors = new ArrayList<>();
            for (String batch : batches) {
                try {
                    statement.execute(batch);
                } catch (SQLException e) {
                    errors.add(e.getMessage());
                }
            }
            assertThat(errors.get(0)).contains("rows have their message id in the old column only");
            statement.execute("SET XACT_ABORT OFF");
        } finally {
            database.execute("DROP TABLE IF EXISTS x_probe");
        }
        assertThat(catalog(database, table)).isEqualTo(before);
    }

    private List<String> batches(Phase phase) {
        return List.of(upgrade.render(migration(), phase).split("(?m)^GO\\R"));
    }

    static void run(DataSource dataSource, List<String> batches) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                Statement statement = connection.createStatement()) {
            try {
                for (String batch : batches) {
                    statement.execute(batch.strip());
                }
            } finally {
                statement.execute("IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION");
                statement.execute("SET XACT_ABORT OFF");
                statement.execute("SET LOCK_TIMEOUT -1");
            }
        }
    }

    @Test
    void whatALaterPhaseNeedsIsRefusedAtTheCall() {
        new LegacyOutbox(database, LegacyOutbox.Spelling.SNAKE, table);
        assertRefused(Message.to("orders").header("a", "b").payload(""), "must be in phase 2 for headers");
        go(Phase.DUAL);
        database.commit(outbox(), List.of(Message.to("orders").header("a", "b").payload("")));
        assertRefused(Message.to("orders").key("k").payload(""), "must be in phase 3 for a key");
        assertRefused(Message.to("orders").id("17").payload(""), "must be in phase 4 for a message id that is no UUID");
        upgrade.apply(migration(), Phase.FLIPPED);
        Message keyed = Message.to("orders").key("k").payload("");
        database.commit(outbox(), List.of(keyed));
    }

    private void assertRefused(Message message, String reason) {
        assertThatThrownBy(() -> database.commit(outbox(), List.of(message)))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void thereIsAWayBackFromEachPhaseUntilTheCleanUp() throws SQLException {
        LegacyOutbox old = new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        List<String> before = catalog(database, table);
        go(Phase.FLIPPED);
        Outbox outbox = outbox();
        database.commit(outbox, List.of(Message.to("orders").key("k").payload("keyed")));
        assertThatThrownBy(() -> upgrade.back(migration(), Phase.DUAL))
                .hasMessageContaining("unfinished messages have a key, which phase 2 cannot tell");
        database.execute("DELETE FROM " + table);
        String id = UUID.randomUUID().toString();
        database.commit(outbox, List.of(Message.to("orders").id(id).payload("plain")));
        for (Phase phase : List.of(Phase.DUAL, Phase.ADDITIVE, Phase.LEGACY)) {
            upgrade.back(migration(), phase);
            assertThat(upgrade.phase(migration())).isEqualTo(phase);
            transaction(tx -> {
                UUID owner = UUID.randomUUID();
                List<LegacyOutbox.Claimed> claimed = old.claim(tx, owner, 5);
                assertThat(claimed)
                        .extracting(message -> message.messageId().toString())
                        .containsExactly(id);
                old.reschedule(tx, owner, claimed.get(0).id());
            });
            // where an error in a name ends the transaction, somebody who knows
            Outbox late = database.isBabelfish() ? outbox() : outbox;
            database.commit(late, List.of(Message.to("gone").payload("by who has not noticed")));
            database.execute("DELETE FROM " + table + " WHERE Topic = N'gone'");
        }
        assertThat(catalog(database, table)).containsExactlyElementsOf(before);
    }

    /** The caller's transaction goes on, whatever step came in between, and whoever has not noticed. */
    @Test
    void noCallersTransactionFailsBecauseOfAStep() throws SQLException {
        new LegacyOutbox(database, LegacyOutbox.Spelling.PASCAL, table);
        database.execute("DROP TABLE IF EXISTS x_orders");
        database.execute("CREATE TABLE x_orders (Id int NOT NULL)");
        Outbox outbox = SqlServerOutbox.builder(database.pool())
                .table(table)
                .refreshInterval(Duration.ofMinutes(1))
                .build();
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            upgrade.apply(migration(), phase);
            SqlServerDatabase.Work order = tx -> {
                try (Statement statement = tx.createStatement()) {
                    statement.execute("INSERT INTO x_orders VALUES (" + phase.number() + ")");
                }
                outbox.enqueue(tx, Message.to("orders").payload(phase.toString()));
            };
            if (database.isBabelfish() && !phase.before(Phase.FLIPPED)) {
                // There such an error ends the transaction: then at least the caller is told.
                assertThatThrownBy(() -> transaction(order)).isInstanceOf(OutboxException.class);
                outbox.source().claim(request());
            }
            transaction(order);
            if (phase.before(Phase.FLIPPED)) {
                upgrade.backfill().run(migration());
            }
        }
        assertThat(database.query("SELECT CAST(Id AS nvarchar(9)) FROM x_orders ORDER BY Id"))
                .containsExactly("1", "2", "3", "4");
        assertThat(database.query("SELECT Payload FROM " + table + " ORDER BY Sequence"))
                .containsExactly("phase 1", "phase 2", "phase 3", "phase 4");
    }

    private void transaction(SqlServerDatabase.Work work) throws SQLException {
        database.transaction(work);
    }

    private Outbox outbox() {
        return SqlServerOutbox.builder(database.pool()).table(table).build();
    }

    private static ClaimRequest request() {
        return new ClaimRequest(10, Duration.ofMinutes(5), 5, Set.of(), "test");
    }

    /** Babelfish gives a new column's default to the rows that are there; a new column of SQL Server is null in them. */
    private void forgetNumbers() {
        database.execute("UPDATE " + table + " SET Sequence = NULL, Priority = NULL, BlocksKey = NULL");
    }

    private DataSource migration() {
        return ForgivingDataSource.over(database);
    }

    private void go(Phase to) {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED, Phase.CLEAN)) {
            if (phase.compareTo(to) <= 0) {
                upgrade.apply(migration(), phase);
                if (phase == Phase.ADDITIVE && to != Phase.ADDITIVE) {
                    upgrade.backfill().run(migration());
                }
            }
        }
    }

    /** Columns, indexes and constraints, without what stays as the old table had it: see docs/reference/schema.md. */
    static List<String> catalog(SqlServerDatabase database, String table) {
        List<String> catalog = database.query("""
                SELECT LOWER(CONCAT(c.name, N' ', CASE t.name WHEN N'datetimeoffset' THEN N'datetime2'
                        WHEN N'binary' THEN N'varbinary' ELSE t.name END,
                    N' ', CASE WHEN c.name = N'LastError' OR t.name LIKE N'datetime%' THEN 0 ELSE c.max_length END,
                    N' ', c.is_nullable, N' ', c.is_computed))
                FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id
                WHERE c.object_id = OBJECT_ID(?) ORDER BY 1
                """, table);
        catalog.addAll(database.query("""
                SELECT CONCAT(i.name, N' ', i.is_primary_key, i.is_unique, N' ', i.has_filter)
                FROM sys.indexes i WHERE i.object_id = OBJECT_ID(?) AND i.name IS NOT NULL ORDER BY 1
                """, table));
        catalog.addAll(database.query("""
                SELECT CONCAT(o.name, N' ', o.type) FROM sys.objects o
                WHERE o.parent_object_id = OBJECT_ID(?) AND o.type IN ('D', 'C', 'PK', 'UQ', 'TR') ORDER BY 1
                """, table));
        catalog.addAll(database.query("""
                SELECT CAST(p.value AS nvarchar(255)) FROM sys.extended_properties p
                WHERE p.major_id = OBJECT_ID(?) AND p.minor_id = 0
                """, table));
        return catalog.stream()
                .map(line -> line.replaceAll("(?i)" + table + "([a-f0-9]{32})?", "T"))
                .map(line -> database.isBabelfish() ? asFarAsBabelfishGoes(line) : line)
                .filter(line -> !line.isEmpty())
                .sorted()
                .toList();
    }

    /** Without defaults, which have no names there, and what cannot be altered. */
    private static String asFarAsBabelfishGoes(String line) {
        return line.startsWith("DF_")
                ? ""
                : line.replaceAll("^(\\w+ \\w+ -?\\d+) [01] ([01])$", "$1 $2")
                        .replace("processedby nvarchar 200", "processedby nvarchar 510")
                        .replace("topic nvarchar 256", "topic nvarchar 510");
    }
}
