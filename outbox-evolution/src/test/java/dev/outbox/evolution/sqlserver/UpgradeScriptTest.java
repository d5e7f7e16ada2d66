package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import dev.outbox.sqlserver.Tsql;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts of an upgrade on SQL Server are T-SQL, found out without a server. */
class UpgradeScriptTest {
    private static final int LOCK_TIMEOUT = 1222;
    private static final int DEADLOCK = 1205;
    private static final String READ_COMMITTED = "isolation " + Connection.TRANSACTION_READ_COMMITTED;
    private static final String SNAPSHOT_AGAIN = "isolation " + CatalogDriver.SNAPSHOT;
    private static final Pattern BATCH = Pattern.compile("(?m)^GO\\R");

    private static final Map<String, String> RENAMED = Map.of(
            "Id", "WorkItemId",
            "CreatedAt", "CreatedOn",
            "ProcessedAt", "ProcessedOn",
            "RetryCount", "AttemptCount",
            "DueTimeUtc", "DueOn");

    private static final Map<String, String> OLD = Map.of(
            "Id", "uniqueidentifier default",
            "CreatedAt", "datetimeoffset default",
            "ProcessedAt", "datetimeoffset null",
            "RetryCount", "int default",
            "DueTimeUtc", "datetimeoffset null");

    private final Upgrade upgrade = Upgrade.outbox("outbox").quietFor(Duration.ofMinutes(1));

    static DataSource table(Phase phase, boolean online) {
        return catalog(phase, online).dataSource();
    }

    static CatalogDriver catalog(Phase phase, boolean online) {
        CatalogDriver catalog = new CatalogDriver(
                phase == Phase.LEGACY ? null : "phase " + phase.mark() + " since 2026-11-16T10:00:00.000Z", online);
        boolean flipped = phase == Phase.FLIPPED;
        OLD.forEach((old, type) -> catalog.column(flipped ? RENAMED.get(old) : old, type));
        catalog.column("Payload", "nvarchar(max)")
                .column("Topic", "nvarchar")
                .column("IsProcessed", "bit default")
                .column("ProcessedBy", "nvarchar null")
                .column("LastError", "nvarchar null")
                .column("MessageId", "uniqueidentifier default")
                .column("CorrelationId", "nvarchar null")
                .column("Status", "tinyint default")
                .column("LockedUntil", "datetimeoffset null")
                .column("OwnerToken", "uniqueidentifier null")
                .index("PK_outbox", true, flipped ? "WorkItemId" : "Id", "")
                .index("IX_outbox_WorkQueue", false, flipped ? "CreatedOn" : "CreatedAt", "([Status]=(0))")
                .index("IX_outbox_DueTime", false, flipped ? "DueOn" : "DueTimeUtc", "([DueTimeUtc] IS NOT NULL)");
        if (phase != Phase.LEGACY) {
            RENAMED.forEach((old, now) -> catalog.column(flipped ? old : now, "int computed"));
            catalog.column("Sequence", "bigint default null")
                    .column("Priority", "smallint default null")
                    .column("BlocksKey", "bit default null")
                    .column("FirstDueOn", "datetime2 null")
                    .column("MessageKey", "nvarchar null")
                    .column("MessageIdNew", "nvarchar null")
                    .column("TenantId", "nvarchar null")
                    .column("ContentType", "nvarchar null")
                    .column("Headers", "nvarchar null")
                    .column("PayloadBytes", "varbinary null")
                    .column("LibraryToken", "uniqueidentifier null")
                    .column("ExactKey", "nvarchar computed");
        }
        if (phase.compareTo(Phase.DUAL) >= 0) {
            List.of("_OrderNew", "_Ready", "_KeyDue", "_Key", "_KeyBlocked", "_KeyHigh", "_Leased", "_Done", "_Dead")
                    .forEach(suffix -> catalog.index("outbox" + suffix, false, "Sequence", ""));
        }
        return catalog;
    }

    static String parsed(String script) {
        BATCH.splitAsStream(script).filter(batch -> !batch.isBlank()).forEach(Tsql::parse);
        return script;
    }

    @Test
    void aSchemaMayHaveAnyName() {
        Map<Phase, Phase> steps = Map.of(
                Phase.LEGACY, Phase.ADDITIVE,
                Phase.ADDITIVE, Phase.DUAL,
                Phase.DUAL, Phase.FLIPPED,
                Phase.FLIPPED, Phase.CLEAN);
        steps.forEach((from, to) -> {
            String script =
                    upgrade.render(catalog(from, true).schema("tenant-a's").dataSource(), to);

            assertThat(script)
                    .contains("ALTER TABLE [tenant-a's].[outbox]", "OBJECT_ID(N'[tenant-a''s].[outbox]')")
                    .contains("@level0name = N'tenant-a''s'")
                    .doesNotContain("N'[tenant-a's]");
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyStepThereAndBack(boolean online) {
        String additive = parsed(upgrade.render(table(Phase.LEGACY, online), Phase.ADDITIVE));
        String dual = parsed(upgrade.render(table(Phase.ADDITIVE, online), Phase.DUAL));
        String flip = parsed(upgrade.render(table(Phase.DUAL, online), Phase.FLIPPED));
        String clean = parsed(upgrade.render(table(Phase.FLIPPED, online), Phase.CLEAN));
        parsed(upgrade.renderBack(table(Phase.FLIPPED, online), Phase.DUAL));
        parsed(upgrade.renderBack(table(Phase.DUAL, online), Phase.ADDITIVE));
        parsed(upgrade.renderBack(table(Phase.ADDITIVE, online), Phase.LEGACY));

        assertThat(additive)
                .contains("ADD [MessageIdNew] nvarchar(255) COLLATE Latin1_General_100_BIN2 NULL")
                .contains("ADD [CreatedOn] AS [CreatedAt]")
                .doesNotContain("NOT NULL CONSTRAINT", "TRIGGER");
        assertThat(dual)
                .contains("INDEX [outbox_Ready] ON [dbo].[outbox] (Priority, DueTimeUtc, Sequence) INCLUDE (Topic)")
                .contains("ALTER COLUMN [Sequence] bigint NOT NULL");
        assertThat(flip)
                .contains("DROP INDEX [IX_outbox_DueTime] ON [dbo].[outbox]")
                .contains("sp_rename @objname = N'[dbo].[outbox].[CreatedAt]', @newname = N'CreatedOn'")
                .contains("ADD [CreatedAt] AS [CreatedOn]")
                .doesNotContain("TRIGGER");
        assertThat(clean)
                .contains("sp_rename @objname = N'[dbo].[outbox].[MessageIdNew]', @newname = N'MessageId'")
                .contains("DROP COLUMN [IsProcessed]")
                .contains("UNIQUE CLUSTERED (Sequence)");
        assertThat(dual.contains("ONLINE = ON")).isEqualTo(online);
        assertThat(clean.contains("ONLINE = ON")).isEqualTo(online);
    }

    /** Whoever waits for a lock on a table has everybody else behind him, online or not. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noStatementWaitsForALockLongerThanTwoSeconds(boolean online) {
        String scripts = upgrade.render(table(Phase.ADDITIVE, online), Phase.DUAL)
                + upgrade.render(table(Phase.DUAL, online), Phase.FLIPPED)
                + upgrade.render(table(Phase.FLIPPED, online), Phase.CLEAN);

        assertThat(Pattern.compile("LOCK_TIMEOUT (\\d+)").matcher(scripts).results())
                .extracting(found -> Integer.valueOf(found.group(1)))
                .isNotEmpty()
                .allMatch(wait -> wait <= 2_000);
    }

    @Test
    void aBuildThatDoesNotGetItsLockIsTriedAgain() {
        CatalogDriver catalog = catalog(Phase.ADDITIVE, true)
                .refuse("INDEX [outbox_Key]", LOCK_TIMEOUT)
                .refuse("INDEX [outbox_Key]", DEADLOCK);
        upgrade.lockTimeout(Duration.ofMillis(1), Duration.ofMinutes(1)).apply(catalog.dataSource(), Phase.DUAL);

        assertThat(catalog.ran())
                .filteredOn(statement -> statement.contains("INDEX [outbox_Key]"))
                .hasSize(3);
        assertThat(catalog.ran())
                .filteredOn(statement -> statement.contains("INDEX [outbox_Ready]"))
                .hasSize(1);
    }

    @Test
    void computedColumnsOfTheApplicationStay() {
        for (Phase phase : List.of(Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            DataSource table =
                    catalog(phase, true).column("PayloadLength", "int computed").dataSource();
            String there = upgrade.render(
                    table, phase == Phase.ADDITIVE ? Phase.DUAL : phase == Phase.DUAL ? Phase.FLIPPED : Phase.CLEAN);
            String back = upgrade.renderBack(
                    table, phase == Phase.ADDITIVE ? Phase.LEGACY : phase == Phase.DUAL ? Phase.ADDITIVE : Phase.DUAL);

            assertThat(there + back).doesNotContain("PayloadLength");
        }
        assertThat(upgrade.render(table(Phase.DUAL, true), Phase.FLIPPED)).contains("DROP COLUMN [CreatedOn]");
        assertThat(upgrade.render(table(Phase.FLIPPED, true), Phase.CLEAN)).contains("DROP COLUMN [CreatedAt]");
    }

    @Test
    void thereIsNoWayBackOnceOldColumnsAreDropped() {
        DataSource interrupted = new CatalogDriver("phase 3 since 2026-11-16T10:00:00.000Z", true)
                .column("WorkItemId", "uniqueidentifier")
                .column("Sequence", "bigint default")
                .column("Status", "tinyint default")
                .column("MessageId", "nvarchar null")
                .dataSource();

        assertThatThrownBy(() -> upgrade.renderBack(interrupted, Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("has begun to go to phase 4 and cannot go back to phase 2");
    }

    /** An insert that is open for longer than the timeout would keep a scan that locks from ever ending. */
    @Test
    void whatIsAskedOfRowsWaitsForNobody() {
        String scripts = upgrade.render(table(Phase.LEGACY, true), Phase.ADDITIVE)
                + upgrade.render(table(Phase.ADDITIVE, true), Phase.DUAL)
                + upgrade.render(table(Phase.DUAL, true), Phase.FLIPPED)
                + upgrade.render(table(Phase.FLIPPED, true), Phase.CLEAN);

        assertThat(Pattern.compile("FROM \\[dbo]\\.\\[outbox](.{27})")
                        .matcher(scripts)
                        .results())
                .extracting(found -> found.group(1))
                .isNotEmpty()
                .containsOnly(" t WITH (READUNCOMMITTED) W");
    }

    /** There can be one only, and to drop it rewrites the table: not in a short transaction. */
    @ParameterizedTest
    @ValueSource(strings = {"CreatedOn", "Tenant"})
    void aClusteredIndexThatIsNotTheKeyGoesOnlineBeforeTheTableIsClusteredAnew(String column) {
        String clean = parsed(upgrade.render(
                catalog(Phase.FLIPPED, true).clustered("CX_outbox", column).dataSource(), Phase.CLEAN));

        String drop = "DROP INDEX [CX_outbox] ON [dbo].[outbox] WITH (ONLINE = ON)";
        assertThat(clean).containsOnlyOnce("DROP INDEX [CX_outbox]").contains(drop);
        assertThat(clean.indexOf(drop)).isBetween(clean.indexOf("COMMIT"), clean.indexOf("DROP COLUMN [IsProcessed]"));
        assertThat(clean.substring(clean.indexOf("COMMIT"), clean.indexOf(drop)))
                .doesNotContain("BEGIN TRANSACTION");
        assertThat(clean).contains("DROP CONSTRAINT [PK_outbox];").contains("UNIQUE CLUSTERED (Sequence)");
    }

    /** Each of them reads the table, and nobody else can meanwhile. */
    @Test
    void checksAreAddedOneByOne() {
        String clean = upgrade.render(table(Phase.FLIPPED, true), Phase.CLEAN);
        String last = clean.substring(clean.lastIndexOf("BEGIN TRANSACTION"));

        assertThat(clean)
                .contains("CHECK (Status BETWEEN 0 AND 3)")
                .contains("ADD CONSTRAINT [outbox_OnePayload] CHECK");
        assertThat(Pattern.compile("BEGIN TRANSACTION;(.+?)COMMIT TRANSACTION", Pattern.DOTALL)
                        .matcher(clean)
                        .results())
                .extracting(found -> found.group(1))
                .noneMatch(transaction -> transaction.contains(" CHECK ("));
        assertThat(last).contains("@value = N'phase 4'");
    }

    /** As long as the library asks of a canonical table; what a column is besides, it stays. */
    @Test
    void shortTextsBecomeLongerInPhase4() {
        DataSource table =
                catalog(Phase.FLIPPED, false).collation("Latin1_General_CI_AS").dataSource();
        String clean = parsed(upgrade.render(table, Phase.CLEAN));

        assertThat(clean)
                .contains("ALTER COLUMN [Topic] nvarchar(255) COLLATE Latin1_General_CI_AS NOT NULL")
                .contains("ALTER COLUMN [LastError] nvarchar(2000) COLLATE Latin1_General_CI_AS NULL")
                .contains("ALTER COLUMN [ProcessedBy] nvarchar(255) COLLATE Latin1_General_CI_AS NULL")
                .contains("ALTER COLUMN [CorrelationId] nvarchar(255) COLLATE Latin1_General_CI_AS NULL");
    }

    @Test
    void theFlipKeepsTheCollationOfPayloadsAndLeavesTheOldMessageIdAlone() {
        DataSource table =
                catalog(Phase.DUAL, false).collation("Latin1_General_CI_AS").dataSource();
        String flip = parsed(upgrade.render(table, Phase.FLIPPED));

        assertThat(flip)
                .containsPattern("ALTER COLUMN \\[Payload] nvarchar\\(\\w+\\) COLLATE Latin1_General_CI_AS NULL")
                .doesNotContain("ALTER COLUMN [MessageId]");
    }

    @Test
    void underWhateverIsolationOfThePoolReadCommittedIsUsedAndPutBack() {
        CatalogDriver catalog = catalog(Phase.ADDITIVE, true);
        upgrade.apply(catalog.dataSource(), Phase.DUAL);
        assertThat(catalog.ran()).startsWith(READ_COMMITTED).endsWith(SNAPSHOT_AGAIN);

        catalog.ran().clear();
        upgrade.backfill().run(catalog.dataSource());
        assertThat(catalog.ran()).startsWith(READ_COMMITTED).endsWith(SNAPSHOT_AGAIN);
    }

    @Test
    void theBackfillBeginsATransactionAnewThatWasTheVictimOfADeadlock() {
        CatalogDriver catalog = catalog(Phase.ADDITIVE, true).refuse("CREATE TABLE [dbo].[outbox_backfill]", DEADLOCK);
        upgrade.backfill().run(catalog.dataSource());

        assertThat(catalog.ran())
                .filteredOn(statement -> statement.contains("CREATE TABLE [dbo].[outbox_backfill]"))
                .hasSize(2);
        assertThat(catalog.ran())
                .filteredOn(statement -> statement.contains("sp_getapplock"))
                .as("its lock went with it")
                .hasSize(2);
    }

    @Test
    void theBackfill() {
        String script = upgrade.backfill().render(table(Phase.ADDITIVE, false));

        parsed(script.replaceAll("WAITFOR DELAY '[\\d:.]+';", ""));
        assertThat(script)
                .startsWith("SET TRANSACTION ISOLATION LEVEL READ COMMITTED;")
                .contains("WAITFOR DELAY '00:00:00.010';")
                .contains("[ProcessedAt] = CASE WHEN t.[Status] >= 2 OR t.[IsProcessed] = 1"
                        + " THEN COALESCE(t.[ProcessedAt], SYSUTCDATETIME()) ELSE t.[ProcessedAt] END")
                .as("and is not taken for an old application's")
                .contains(
                        "[LibraryToken] = CASE WHEN (t.[Status] >= 2 OR t.[IsProcessed] = 1) AND t.[ProcessedAt] IS NULL"
                                + " THEN COALESCE(t.[LibraryToken], NEWID()) ELSE t.[LibraryToken] END")
                .containsPattern("WHILE @left > 0\\s+BEGIN\\s+BEGIN TRANSACTION")
                .containsPattern("SET @left = \\(SELECT COUNT_BIG\\(\\*\\) FROM \\[dbo]\\.\\[outbox] t"
                        + " WITH \\(READUNCOMMITTED\\) WHERE t\\.\\[Sequence] IS NULL.*\\);\\s+END;\\s+GO\\s+$");
    }

    @Test
    void aTableThatCannotBeTakenOverIsRefusedWithEveryReason() {
        DataSource strange = new CatalogDriver(null, false)
                .column("Id", "int")
                .column("Topic", "varchar")
                .column("Payload", "nvarchar(max)")
                .column("Invoice", "int")
                .column("Priority", "int null")
                .dataSource();

        assertThatThrownBy(() -> upgrade.apply(strange, Phase.ADDITIVE))
                .hasMessageContaining("column Id is int, but work_item_id must be uniqueidentifier")
                .hasMessageContaining("column Topic is varchar(16), but topic must be nvarchar")
                .hasMessageContaining("no column was found for created_on")
                .hasMessageContaining("a column is already called Priority")
                .hasMessageContaining("column Invoice does not belong to the library");
    }
}
