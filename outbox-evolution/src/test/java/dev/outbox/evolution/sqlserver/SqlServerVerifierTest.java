package dev.outbox.evolution.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.jdbc.Phase;
import dev.outbox.migrations.Finding;
import dev.outbox.migrations.Upgrade;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is in the way of a table of SQL Server is said before, found out without a server. */
class SqlServerVerifierTest {
    private static final String ROWS = "COUNT_BIG(CASE";

    private final Upgrade outbox = Upgrade.outbox("outbox");
    private final Upgrade inbox = Upgrade.inbox("inbox", "billing");

    private static CatalogDriver outbox(Phase phase) {
        return UpgradeScriptTest.catalog(phase, true);
    }

    private static CatalogDriver inbox(Phase phase) {
        return InboxUpgradeScriptTest.catalog(phase, true);
    }

    private static List<String> blocking(Upgrade upgrade, CatalogDriver catalog, Phase phase) {
        return upgrade.report(catalog.dataSource()).obstacles(phase).stream()
                .map(Finding::text)
                .toList();
    }

    @Test
    void aTableOfTheFieldHasNothingInItsWay() {
        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            assertThat(outbox.report(outbox(phase).dataSource()).findings()).isEmpty();
            assertThat(inbox.report(inbox(phase).dataSource()).findings()).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "ProcessedAt, datetime null, 'column ProcessedAt is datetime, but processed_on must be datetime2 or datetimeoffset; change its type'",
        "LastError, varchar(500) null, 'column LastError is varchar(500), but last_error must be nvarchar; change its type'",
        "CorrelationId, uniqueidentifier null, 'column CorrelationId is uniqueidentifier, but correlation_id must be nvarchar; change its type'",
        "Payload, nvarchar(4000), 'column Payload is nvarchar(4000), but payload must be at least nvarchar(max); make it longer'",
        "MessageId, nvarchar(64), 'column MessageId is nvarchar(64), but message_id must be at least nvarchar(255); make it longer'",
        "Topic, nvarchar(100) null, 'column Topic is nvarchar(100) NULL, but topic must not allow nulls; fill the nulls, and make it NOT NULL'",
        "RetryCount, int null, 'column RetryCount is int NULL, but attempt_count must not allow nulls; fill the nulls, and make it NOT NULL'",
        "Status, tinyint null, 'column Status is tinyint NULL, but status must not allow nulls; fill the nulls, and make it NOT NULL'",
        "OwnerToken, uniqueidentifier, 'column OwnerToken is uniqueidentifier NOT NULL, but owner_token must allow nulls; make it nullable'"
    })
    void aColumnThatTheLibraryWouldNotTakeInTheEndIsRefusedInTheBeginning(String column, String type, String reason) {
        CatalogDriver table = outbox(Phase.LEGACY).column(column, type);

        assertThat(blocking(outbox, table, Phase.ADDITIVE)).containsExactly(reason + " first");
    }

    @Test
    void whatWasNotRefusedThenIsRefusedInTheEnd() {
        CatalogDriver table = outbox(Phase.FLIPPED).column("AttemptCount", "int null");

        assertThat(blocking(outbox, table, Phase.CLEAN))
                .containsExactly("column AttemptCount is int NULL, but attempt_count must not allow nulls; fill the"
                        + " nulls, and make it NOT NULL; for that take the table back to phase 0");
    }

    @Test
    void anInboxMustNotLackWhatItsMessagesAreKnownBy() {
        CatalogDriver table =
                inbox(Phase.LEGACY).column("Source", "varchar null").column("Hash", "varbinary(16) null");

        assertThat(blocking(inbox, table, Phase.ADDITIVE))
                .containsExactly(
                        "column Source is varchar(16) NULL, but source must not allow nulls; fill the nulls, and make"
                                + " it NOT NULL first",
                        "column Hash is varbinary(16), but hash must be at least varbinary(32); make it longer first");
    }

    @Test
    void rowsThatTheCanonicalTableWouldNotTakeAreAskedForBeforeTheFlipAndBeforeTheCleanUp() {
        String rule = "NOT (t.[Payload] IS NULL AND t.[PayloadBytes] IS NOT NULL OR t.[Payload] IS NOT NULL AND"
                + " t.[PayloadBytes] IS NULL)";
        String flip = outbox.render(outbox(Phase.DUAL).dataSource(), Phase.FLIPPED);
        String clean = outbox.render(outbox(Phase.FLIPPED).dataSource(), Phase.CLEAN);

        assertThat(flip)
                .contains("COALESCE(t.[Status], 9) NOT IN (0, 1, 2, 3)")
                .contains("t.[MessageId] IS NULL")
                .contains(rule);
        assertThat(clean)
                .contains("COALESCE(t.[Status], 9) NOT IN (0, 1, 2, 3)")
                .contains(rule);
        assertThat(inbox.render(inbox(Phase.DUAL).dataSource(), Phase.FLIPPED))
                .contains("NOT (t.[Topic] IS NULL OR t.[Payload] IS NULL")
                .doesNotContain("NOT (t.[Topic] IS NOT NULL OR t.[StatusCode] >= 2)");
        assertThat(inbox.render(inbox(Phase.FLIPPED).dataSource(), Phase.CLEAN))
                .contains("NOT (t.[Topic] IS NOT NULL OR t.[StatusCode] >= 2)");
    }

    /** What an old producer stores between the first look and the lock would lose its id. */
    @Test
    void theFlipOfAnOutboxLooksForLateRowsUnderItsLock() {
        String flip = outbox.render(outbox(Phase.DUAL).dataSource(), Phase.FLIPPED);
        String locked = flip.substring(flip.indexOf("SET (LOCK_ESCALATION = DISABLE)"), flip.indexOf("sp_rename"));

        assertThat(locked)
                .contains("t.[Status] = 0 AND t.[MessageKey] IS NULL AND t.[MessageIdNew] IS NULL")
                .contains("t.[Status] = 1 AND t.[MessageIdNew] IS NULL")
                .doesNotContain("COMMIT TRANSACTION");
    }

    @Test
    void theOldMessageIdIsNotDroppedWhileARowHasNoOther() {
        CatalogDriver table = outbox(Phase.FLIPPED).answer(ROWS, Map.of("1", 3L));

        assertThat(blocking(outbox, table, Phase.CLEAN))
                .containsExactly("3 rows have their message id in the old column only, which phase 4 drops; run the"
                        + " backfill once more");
        assertThat(outbox.render(table.dataSource(), Phase.CLEAN)).contains("WHERE t.[MessageIdNew] IS NULL)");
    }

    @Test
    void allRowsAreLookedAtInOnePass() {
        CatalogDriver table = outbox(Phase.DUAL);
        outbox.report(table.dataSource());

        assertThat(table.asked())
                .filteredOn(query -> query.contains("[dbo].[outbox] t"))
                .hasSize(1);
    }

    @ParameterizedTest
    @CsvSource({
        "V, false, SELECT CreatedAt FROM outbox, 'view or procedure dbo.other names the table and CreatedAt; change or drop it first', CLEAN",
        "P, false, UPDATE outbox SET RetryCount = 0, 'procedure or trigger dbo.other names the table and RetryCount, which cannot be written from phase 3 on; let it use the new names, or drop it first', FLIPPED",
        "TR, false, ON outbox IF UPDATE(RetryCount), 'procedure or trigger dbo.other names the table and RetryCount, which cannot be written from phase 3 on; let it use the new names, or drop it first', FLIPPED",
        "V, true, SELECT Payload FROM outbox, 'dbo.other is bound to the schema and names the table and Payload, so that the column cannot be changed; drop it first, and create it again after phase 3', FLIPPED",
    })
    void whoeverNamesAnOldColumnIsToldInTime(String type, boolean bound, String text, String reason, Phase blocked) {
        CatalogDriver table = outbox(Phase.DUAL)
                .answer("sys.sql_modules", module("V", false, "SELECT RetryCount FROM another"))
                .answer("sys.sql_modules", module(type, bound, text));

        assertThat(blocking(outbox, table, blocked)).containsExactly(reason);
        assertThat(blocking(outbox, table, Phase.CLEAN)).containsExactly(reason);
    }

    @Test
    void whatAProcedureMeansIsAskedOfTheServer() {
        CatalogDriver table = outbox(Phase.DUAL)
                .answer("sys.sql_modules", module("P", false, "INSERT outbox (Topic) SELECT o.Id FROM orders o"))
                .answer("sys.dm_sql_referenced_entities", Map.of("referenced_minor_name", "Topic"));

        assertThat(blocking(outbox, table, Phase.FLIPPED)).isEmpty();
    }

    private static Map<String, Object> module(String type, boolean bound, String text) {
        return Map.of(
                "schema_name", "dbo",
                "object_name", "other",
                "object_type", type,
                "is_schema_bound", bound,
                "definition", text);
    }

    @Test
    void aCheckOfAColumnThatIsRenamedOrDroppedIsInTheWay() {
        CatalogDriver dual = outbox(Phase.DUAL)
                .check("CK_Retries", "([RetryCount]>=(0))")
                .check("CK_Json", "(isjson([Payload])=(1))")
                .check("CK_Processed", "([IsProcessed]=(0) OR [Status]=(2))")
                .check("CK_Topic", "(len([Topic])>(0))");
        String rest = " cannot change the column; drop it first, and create it again after, for the new columns";

        assertThat(blocking(outbox, dual, Phase.FLIPPED))
                .containsExactly(
                        "check constraint CK_Json names Payload, so that phase 3" + rest,
                        "check constraint CK_Retries names RetryCount, so that phase 3" + rest);
        assertThat(blocking(outbox, dual, Phase.CLEAN))
                .containsExactly("check constraint CK_Processed names IsProcessed, so that phase 4" + rest);
    }

    @Test
    void aComputedColumnOfTheApplicationIsInTheWayLikeACheck() {
        CatalogDriver table = inbox(Phase.DUAL)
                .answer("sys.computed_columns", Map.of("name", "Late", "definition", "([LastSeenUtc]>[DueTimeUtc])"))
                .answer("sys.computed_columns", Map.of("name", "IsDone", "definition", "([Status]='Done')"))
                .answer("sys.computed_columns", Map.of("name", "LastSeenOn", "definition", "([LastSeenUtc])"));

        assertThat(blocking(inbox, table, Phase.FLIPPED))
                .containsExactly("computed column Late names LastSeenUtc, DueTimeUtc, so that phase 3 cannot change the"
                        + " column; drop it first, and create it again after, for the new columns");
        assertThat(blocking(inbox, table, Phase.CLEAN))
                .containsExactly(
                        "computed column IsDone names Status, so that phase 4 cannot change the column; drop it"
                                + " first, and create it again after, for the new columns");
    }

    @Test
    void aForeignKeyToTheOldKeyIsInTheWayOfTheCleanUp() {
        CatalogDriver table = outbox(Phase.FLIPPED)
                .answer("sys.foreign_keys", Map.of("name", "FK_audit", "schema_name", "dbo", "object_name", "audit"));

        assertThat(blocking(outbox, table, Phase.CLEAN))
                .containsExactly(
                        "foreign key FK_audit of dbo.audit refers to the table, whose key phase 4 replaces; drop"
                                + " it first, and create it again after, for WorkItemId");
    }

    @Test
    void whatFollowsTheTableIsInTheWay() {
        String rest =
                " follows the table, and its columns cannot be renamed meanwhile; turn it off before phase 3, and on"
                        + " again after phase 4";
        CatalogDriver captured = inbox(Phase.DUAL).answer("is_tracked_by_cdc", Map.of("captured", 1, "replicated", 1));
        CatalogDriver replicated =
                inbox(Phase.DUAL).answer("is_tracked_by_cdc", Map.of("captured", 0, "replicated", 1));
        CatalogDriver tracked = inbox(Phase.ADDITIVE).answer("sys.change_tracking_tables", Map.of("object_id", 1));

        assertThat(blocking(inbox, captured, Phase.FLIPPED)).containsExactly("change data capture" + rest);
        assertThat(blocking(inbox, replicated, Phase.CLEAN)).containsExactly("replication" + rest);
        assertThat(blocking(inbox, tracked, Phase.DUAL))
                .containsExactly("change tracking follows the table, and its key cannot be replaced meanwhile, nor a"
                        + " column be altered online; turn it off first");
    }

    /** Else it would be in nobody's way, or only half of it would be run. */
    @Test
    void noScriptIsRenderedThatWouldNotAskItself() {
        CatalogDriver read =
                outbox(Phase.FLIPPED).answer("sys.sql_modules", module("V", false, "SELECT CreatedAt FROM outbox"));
        CatalogDriver disabled = outbox(Phase.DUAL).disabled("outbox_Ready");
        CatalogDriver polled = outbox(Phase.DUAL)
                .answer("outbox_pollers]') IS NULL", Map.of("1", 1L))
                .answer("outbox_pollers] WHERE", Map.of("1", 2L));

        assertThatThrownBy(() -> outbox.render(read.dataSource(), Phase.CLEAN))
                .hasMessageContaining("is not ready for phase 4: view or procedure dbo.other names");
        assertThatThrownBy(() -> outbox.render(disabled.dataSource(), Phase.FLIPPED))
                .hasMessageContaining("index outbox_Ready is disabled; rebuild it");
        assertThatThrownBy(() -> outbox.render(polled.dataSource(), Phase.FLIPPED))
                .hasMessageContaining("a poller that is alive still reads a phase before");
        assertThatThrownBy(() -> outbox.render(outbox(Phase.LEGACY).dataSource(), Phase.FLIPPED))
                .hasMessageContaining("is in phase 0 and cannot go to phase 3");
        assertThatCode(() -> outbox.render(
                        outbox(Phase.DUAL).answer(ROWS, Map.of("1", 3L)).dataSource(), Phase.FLIPPED))
                .as("rows are asked by the script")
                .doesNotThrowAnyException();
    }
}
