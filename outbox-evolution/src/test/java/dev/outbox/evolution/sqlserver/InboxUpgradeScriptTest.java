package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Upgrade;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The scripts that take an inbox through the phases are T-SQL, found out without a server. */
class InboxUpgradeScriptTest {
    private static final Map<String, String> RENAMED = Map.of(
            "FirstSeenUtc", "FirstSeenOn",
            "LastSeenUtc", "LastSeenOn",
            "ProcessedUtc", "ProcessedOn",
            "DueTimeUtc", "DueOn",
            "Attempts", "AttemptCount");

    private static final Map<String, String> OLD = Map.of(
            "FirstSeenUtc", "datetimeoffset default",
            "LastSeenUtc", "datetime2 default",
            "ProcessedUtc", "datetime2 null",
            "DueTimeUtc", "datetimeoffset null",
            "Attempts", "int default");

    private final Upgrade upgrade = Upgrade.inbox("inbox", "billing").quietFor(Duration.ofMinutes(1));

    private static CatalogDriver legacy(Phase phase, boolean online) {
        CatalogDriver catalog = new CatalogDriver(
                phase == Phase.LEGACY ? null : "inbox phase " + phase.mark() + " since 2026-11-16T10:00:00.000Z",
                online);
        boolean flipped = phase == Phase.FLIPPED;
        OLD.forEach((old, type) -> catalog.column(flipped ? RENAMED.get(old) : old, type));
        return catalog.column("MessageId", "varchar")
                .column("Source", "varchar")
                .column("Hash", "binary(32) null")
                .column("Status", "varchar default")
                .column("LastError", "nvarchar null")
                .column("LockedUntil", "datetimeoffset null")
                .column("OwnerToken", "uniqueidentifier null")
                .column("Topic", "nvarchar null")
                .column("Payload", "nvarchar(max) null")
                .check("CK_inbox_Status", "([Status]='Seen' OR [Status]='Done')")
                .index("PK_inbox", true, "MessageId", "")
                .index("IX_inbox_WorkQueue", false, flipped ? "LastSeenOn" : "LastSeenUtc", "([Status]='Seen')")
                .index("IX_inbox_DueTime", false, flipped ? "DueOn" : "DueTimeUtc", "([DueTimeUtc] IS NOT NULL)");
    }

    private static DataSource table(Phase phase, boolean online) {
        return catalog(phase, online).dataSource();
    }

    static CatalogDriver catalog(Phase phase, boolean online) {
        CatalogDriver catalog = legacy(phase, online);
        boolean flipped = phase == Phase.FLIPPED;
        if (phase != Phase.LEGACY) {
            RENAMED.forEach((old, now) -> catalog.column(flipped ? old : now, "int computed"));
            List.of("MessageKey", "CorrelationId", "TenantId", "ContentType", "ProcessedBy", "Headers")
                    .forEach(name -> catalog.column(name, "nvarchar null"));
            catalog.column("Sequence", "bigint default null")
                    .column("WorkItemId", "uniqueidentifier default null")
                    .column("CreatedOn", "datetime2 default null")
                    .column("ReceiptCount", "int default null")
                    .column("Priority", "smallint default null")
                    .column("BlocksKey", "bit default null")
                    .column("FirstDueOn", "datetime2 null")
                    .column("Consumer", "nvarchar default null")
                    .column("StatusCode", "tinyint default null")
                    .column("MessageIdNew", "nvarchar default null")
                    .column("SourceNew", "nvarchar default null")
                    .column("PayloadBytes", "varbinary null")
                    .column("LibraryToken", "uniqueidentifier null")
                    .column("ExactKey", "nvarchar computed");
        }
        if (phase == Phase.ADDITIVE || phase == Phase.DUAL) {
            catalog.column("Differs", "int computed");
        }
        if (phase.compareTo(Phase.DUAL) >= 0) {
            List.of(
                            "_OrderNew",
                            "_Item",
                            "_Ready",
                            "_KeyDue",
                            "_Key",
                            "_KeyBlocked",
                            "_KeyHigh",
                            "_Leased",
                            "_Done",
                            "_Dead")
                    .forEach(suffix -> catalog.index("inbox" + suffix, false, "Sequence", ""));
        }
        if (phase == Phase.DUAL) {
            catalog.index("inbox_Differs", false, "Differs", "");
        }
        return catalog;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void everyStepThereAndBack(boolean online) {
        String additive = UpgradeScriptTest.parsed(upgrade.render(table(Phase.LEGACY, online), Phase.ADDITIVE));
        String dual = UpgradeScriptTest.parsed(upgrade.render(table(Phase.ADDITIVE, online), Phase.DUAL));
        String flip = UpgradeScriptTest.parsed(upgrade.render(table(Phase.DUAL, online), Phase.FLIPPED));
        String clean = UpgradeScriptTest.parsed(upgrade.render(table(Phase.FLIPPED, online), Phase.CLEAN));
        String backToDual = UpgradeScriptTest.parsed(upgrade.renderBack(table(Phase.FLIPPED, online), Phase.DUAL));
        UpgradeScriptTest.parsed(upgrade.renderBack(table(Phase.DUAL, online), Phase.ADDITIVE));
        String backToLegacy = UpgradeScriptTest.parsed(upgrade.renderBack(table(Phase.ADDITIVE, online), Phase.LEGACY));

        assertThat(additive)
                .contains("ADD [StatusCode] tinyint NULL CONSTRAINT [inbox_Ready0] DEFAULT (0)")
                .contains("ADD [Consumer] nvarchar(255) COLLATE Latin1_General_100_BIN2 NULL CONSTRAINT"
                        + " [inbox_OneConsumer] DEFAULT (N'billing')")
                .contains("ADD [WorkItemId] uniqueidentifier NULL CONSTRAINT [inbox_NewItem] DEFAULT (NEWID())")
                .contains("ADD [FirstSeenOn] AS [FirstSeenUtc]")
                .contains("ADD [Differs] AS (CASE WHEN [StatusCode] = CASE [Status] WHEN 'Seen' THEN 0")
                .contains("@name = N'dev.outbox.consumer', @value = N'billing'")
                .doesNotContain("ExactSource", "NOT NULL CONSTRAINT", "TRIGGER", "PERSISTED");
        assertThat(dual)
                .contains(
                        "INDEX [inbox_Ready] ON [dbo].[inbox] (Consumer, Priority, DueTimeUtc, Sequence) INCLUDE (Topic)\n"
                                + "    WHERE StatusCode = 0 AND MessageKey IS NULL")
                .contains("INDEX [inbox_Differs] ON [dbo].[inbox] (Differs)")
                .contains("ALTER COLUMN [StatusCode] tinyint NOT NULL");
        assertThat(clean)
                .contains("DROP CONSTRAINT [CK_inbox_Status]")
                .contains("sp_rename @objname = N'[dbo].[inbox].[StatusCode]', @newname = N'Status'")
                .contains("ADD CONSTRAINT [inbox_Order] PRIMARY KEY CLUSTERED (Sequence)")
                .contains("UNIQUE NONCLUSTERED (Consumer, ExactSource, ExactMessageId)")
                .contains("ALTER COLUMN [Topic] nvarchar(255) NULL")
                .contains("@value = N'inbox phase 4'");
        assertThat(backToDual).contains("ADD [Differs] AS").contains("INDEX [inbox_Differs]");
        assertThat(backToLegacy).contains("DROP COLUMN [StatusCode]").doesNotContain("DROP COLUMN [Status]");
        assertInOrder(
                flip,
                "SET (LOCK_ESCALATION = DISABLE)",
                "t.[Differs] = 1",
                "DROP INDEX [inbox_Differs]",
                "DROP COLUMN [Differs]",
                "sp_rename @objname = N'[dbo].[inbox].[LastSeenUtc]', @newname = N'LastSeenOn'");
        assertInOrder(
                clean,
                "INDEX [inbox_StatusNew] ON [dbo].[inbox] (Consumer, StatusCode, Sequence)",
                "INDEX [inbox_ItemNew] ON [dbo].[inbox] (WorkItemId)",
                "UNIQUE INDEX [inbox_MessageNew] ON [dbo].[inbox] (MessageIdNew)",
                "DROP INDEX [inbox_Item]",
                "DROP INDEX [inbox_Ready]",
                "DROP CONSTRAINT [PK_inbox]",
                "DROP COLUMN [Status]",
                "@newname = N'Status'",
                "ADD CONSTRAINT [inbox_Message]",
                "INDEX [inbox_Item] ON [dbo].[inbox] (WorkItemId)",
                "INDEX [inbox_Ready] ON [dbo].[inbox] (Consumer, Priority, DueOn, Sequence)",
                "DROP INDEX [inbox_ItemNew]",
                "DROP INDEX [inbox_MessageNew]");
        assertThat(dual.contains("ONLINE = ON")).isEqualTo(online);
        assertThat(clean.contains("ONLINE = ON")).isEqualTo(online);
    }

    /** The check under the lock is the last of its kind in the script: the first is a report. */
    private static void assertInOrder(String script, String... parts) {
        int at = script.indexOf(parts[0]);
        for (String part : parts) {
            int next = script.indexOf(part, at);
            assertThat(next).as(part).isNotNegative();
            at = next;
        }
    }

    /** A computed column keeps those that it reads from being changed (5074, 4922). */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noColumnIsMadeNotNullWhileAComputedOneReadsIt(boolean online) {
        String dual = upgrade.render(table(Phase.ADDITIVE, online), Phase.DUAL);

        assertInOrder(
                dual,
                "DROP COLUMN [Differs]",
                "COMMIT TRANSACTION",
                "ALTER COLUMN [StatusCode] tinyint NOT NULL",
                "ALTER COLUMN [MessageIdNew]",
                "ALTER COLUMN [SourceNew]",
                "ADD [Differs] AS (CASE WHEN [StatusCode] = CASE [Status]",
                "COMMIT TRANSACTION",
                "INDEX [inbox_Differs] ON [dbo].[inbox] (Differs)",
                "inbox phase 2");
        assertThat(dual.indexOf("ALTER COLUMN")).isGreaterThan(dual.indexOf("DROP COLUMN [Differs]"));
        assertThat(dual.lastIndexOf("ALTER COLUMN")).isLessThan(dual.indexOf("ADD [Differs]"));
    }

    /** The old key is dropped before the old columns are, and the new one would not take what old applications insert. */
    @Test
    void thereIsNoWayBackOnceKeysAreReplaced() {
        DataSource interrupted = catalog(Phase.FLIPPED, true)
                .index("inbox_StatusNew", false, "StatusCode", "")
                .dataSource();

        assertThatThrownBy(() -> upgrade.renderBack(interrupted, Phase.DUAL))
                .isInstanceOf(OutboxException.class)
                .hasMessageContaining("has begun to go to phase 4 and cannot go back to phase 2");
    }

    @Test
    void arrivalsThatNobodyFinishedAreFoundByTheIndexesOfReadyAndLeasedRows() {
        String flip = UpgradeScriptTest.parsed(upgrade.render(table(Phase.DUAL, true), Phase.FLIPPED));

        String found = "FROM [dbo].[inbox] WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)\n"
                + "        WHERE [Topic] IS NULL AND [StatusCode] ";
        assertThat(flip).contains(found + "= 0 AND [MessageKey] IS NULL);").contains(found + "= 1);");
        assertThat(flip).doesNotContain("[StatusCode] < 2");
    }

    /** The default is added after the column has got its name. */
    @Test
    void defaultsGoToColumnsByTheirFinalNames() {
        assertThat(upgrade.render(table(Phase.FLIPPED, true), Phase.CLEAN))
                .contains("ADD CONSTRAINT [inbox_Ready0] DEFAULT (0) FOR [Status]")
                .doesNotContain("FOR [StatusCode]");
    }

    @Test
    void theBackfill() {
        String script = upgrade.backfill().render(table(Phase.ADDITIVE, false));

        UpgradeScriptTest.parsed(script.replaceAll("WAITFOR DELAY '[\\d:.]+';", ""));
        assertThat(script)
                .contains("Item varchar(16) NOT NULL")
                .contains("[StatusCode] = CASE t.[Status] WHEN 'Seen' THEN 0")
                .contains("[Consumer] = COALESCE(t.[Consumer], N'billing')")
                .contains("[CreatedOn] = COALESCE(t.[CreatedOn], CAST(SWITCHOFFSET(t.[FirstSeenUtc], 0)");
    }

    @Test
    void aTableThatCannotBeTakenOverIsRefusedWithEveryReason() {
        DataSource strange = legacy(Phase.LEGACY, false)
                .column("Consumer", "nvarchar null")
                .column("Invoice", "int")
                .dataSource();
        assertThatThrownBy(() -> upgrade.apply(strange, Phase.ADDITIVE))
                .hasMessageContaining("a column is already called Consumer")
                .hasMessageContaining("column Invoice does not belong to the library");

        DataSource outbox = new CatalogDriver(null, false).column("Id", "int").dataSource();
        assertThatThrownBy(() -> upgrade.apply(outbox, Phase.ADDITIVE))
                .hasMessageContaining("no column was found for first_seen_on");
    }
}
