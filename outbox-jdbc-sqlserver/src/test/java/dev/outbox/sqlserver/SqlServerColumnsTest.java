package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sqlserver.SqlServerPurgeBatches;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What statements become for a table on its way. */
class SqlServerColumnsTest {
    private static final String BINARY = "Latin1_General_100_BIN2";

    private static final Map<String, String> RENAMED = Map.of(
            "Id", "WorkItemId",
            "CreatedAt", "CreatedOn",
            "ProcessedAt", "ProcessedOn",
            "RetryCount", "AttemptCount",
            "DueTimeUtc", "DueOn");

    private static final List<String> STATEMENTS = List.of(
            SqlServerEnqueue.INSERT,
            SqlServerLegacyClaim.CLAIM,
            SqlServerClaim.READY,
            SqlServerClaim.WAITING,
            SqlServerKeyClaim.KEYS,
            SqlServerSettle.SETTLE,
            SqlServerSettle.RENEW,
            SqlServerSourceStatements.EXPIRE,
            SqlServerSourceStatements.NEXT_DUE,
            SqlServerPurgeBatches.DONE,
            SqlServerPurgeBatches.DEAD,
            SqlServerHandling.BEGIN,
            SqlServerChange.BEGIN + ";");

    private static Column stored(String name, String type, int characters, @Nullable String collation) {
        int bytes = type.startsWith("n") ? 2 * characters : characters;
        return SqlServerCatalogs.column(name, type, bytes, collation, true, false, false, null, true);
    }

    private static Column computed(String name) {
        return SqlServerCatalogs.column(name, "nvarchar", 512, BINARY, true, true, false, null, true);
    }

    private static SqlServerColumns table(Phase phase) {
        boolean isNew = !phase.before(Phase.FLIPPED);
        List<Column> columns = new ArrayList<>();
        RENAMED.forEach((old, now) -> {
            columns.add(stored(isNew ? now : old, phase == Phase.CLEAN ? "datetime2" : "datetimeoffset", 0, null));
            if (phase != Phase.LEGACY && phase != Phase.CLEAN) {
                columns.add(computed(isNew ? old : now));
            }
        });
        columns.add(stored("Topic", "nvarchar", 255, phase == Phase.CLEAN ? BINARY : "SQL_Latin1_General_CP1_CI_AS"));
        columns.add(stored("Payload", "nvarchar", 0, null));
        columns.add(stored("Status", "tinyint", 0, null));
        columns.add(stored("LockedUntil", "datetimeoffset", 0, null));
        columns.add(stored("OwnerToken", "uniqueidentifier", 0, null));
        columns.add(stored("LastError", "nvarchar", 0, null));
        columns.add(stored("CorrelationId", "nvarchar", 255, null));
        columns.add(stored("ProcessedBy", "nvarchar", phase == Phase.CLEAN ? 255 : 100, null));
        columns.add(stored("MessageId", phase == Phase.CLEAN ? "nvarchar" : "uniqueidentifier", 0, null));
        if (phase != Phase.CLEAN) {
            columns.add(stored("IsProcessed", "bit", 0, null));
        }
        if (phase != Phase.LEGACY) {
            List.of(
                            "MessageKey",
                            "TenantId",
                            "ContentType",
                            "Headers",
                            "PayloadBytes",
                            "Sequence",
                            "Priority",
                            "BlocksKey")
                    .forEach(name -> columns.add(stored(name, "nvarchar", 0, BINARY)));
            columns.add(stored("FirstDueOn", "datetime2", 0, null));
            columns.add(computed("ExactKey"));
        }
        if (phase != Phase.LEGACY && phase != Phase.CLEAN) {
            columns.add(stored("MessageIdNew", "nvarchar", 255, BINARY));
            columns.add(stored("LibraryToken", "uniqueidentifier", 0, null));
        }
        return new SqlServerColumns("outbox", columns, phase, false);
    }

    static Layout layout(Phase phase) {
        SqlServerColumns columns = table(phase);
        Map<String, Reading> all = new HashMap<>(columns.layout(SqlServerSchema.columns(false)));
        SqlServerTable.INDEXES.keySet().forEach(hint -> all.put(hint, Reading.fixed("")));
        Map.of(
                        "mine", "1 = 1",
                        "out_source", "CAST(NULL AS nvarchar(255))",
                        "next_sequence", "NEXT VALUE FOR \"dbo\".\"outbox_sequence\"",
                        "pollers", "[dbo].[outbox_pollers]")
                .forEach((logical, text) -> all.put(logical, Reading.fixed(text)));
        return new Layout("[dbo].[outbox]", all, columns.written(), Map.of());
    }

    private static SqlServerTable opened(Phase phase) {
        return new SqlServerTable(
                TableName.parse("dbo.outbox"), false, layout(phase), "locks:", false, phase, Map.of());
    }

    private static String resolved(Phase phase, String statement) {
        return layout(phase).resolve(statement).text().replaceAll("\\s+", " ").strip();
    }

    @ParameterizedTest
    @EnumSource(names = "RENAMING", mode = EnumSource.Mode.EXCLUDE)
    void everyStatementOfAnOutboxIsTsqlInEveryPhase(Phase phase) {
        for (String statement : STATEMENTS) {
            String text = resolved(phase, statement);
            Tsql.parse(text.endsWith(";") ? text : text + ";");
        }
    }

    @Test
    void aCanonicalTableIsWrittenAsStatementsSay() {
        SqlServerColumns canonical = table(Phase.CLEAN);
        Map<String, Reading> columns = canonical.layout(SqlServerSchema.columns(false));

        assertThat(canonical.written()).isEmpty();
        assertThat(columns)
                .containsEntry("topic", Reading.column("[Topic]"))
                .containsEntry("as_message_id", Reading.fixed("c.message_id"));
    }

    @Test
    void whatIsStoredUnderAnotherNameIsWrittenThere() {
        String set =
                "UPDATE {table} SET {status = 2}, {owner_token = NULL}, {due_on = @now} WHERE {work_item_id} = @id";

        assertThat(resolved(Phase.LEGACY, set))
                .isEqualTo(
                        "UPDATE [dbo].[outbox] SET [Status] = 2, [IsProcessed] = CASE WHEN (2) = 2 THEN 1 ELSE 0 END,"
                                + " [OwnerToken] = NULL, [DueTimeUtc] = @now WHERE [Id] = @id");
        assertThat(resolved(Phase.DUAL, set))
                .contains("[LibraryToken] = COALESCE(NULL, [LibraryToken]), [DueTimeUtc] = @now WHERE [Id] = @id");
        assertThat(resolved(Phase.FLIPPED, set))
                .contains("[LibraryToken] = COALESCE(NULL, [LibraryToken]), [DueOn] = @now WHERE [WorkItemId] = @id");
        assertThat(resolved(Phase.CLEAN, set))
                .isEqualTo("UPDATE [dbo].[outbox] SET [Status] = 2, [OwnerToken] = NULL, [DueOn] = @now"
                        + " WHERE [WorkItemId] = @id");
    }

    @Test
    void theTimeAnItemWasFirstDueIsKeptInUtcWhereTheTableHasAColumnForIt() {
        assertThat(resolved(Phase.LEGACY, SqlServerSettle.SETTLE)).doesNotContain("FirstDueOn");
        assertThat(resolved(Phase.DUAL, SqlServerSettle.SETTLE))
                .contains("[FirstDueOn] = SWITCHOFFSET(CAST(CASE WHEN v.Verdict = 0"
                        + " THEN COALESCE([FirstDueOn], [DueTimeUtc], [CreatedAt]) ELSE [FirstDueOn] END"
                        + " AS datetimeoffset(7)), 0)");
        assertThat(resolved(Phase.CLEAN, SqlServerSourceStatements.EXPIRE))
                .contains("[FirstDueOn] = COALESCE([FirstDueOn], [DueOn], [CreatedOn]),");
    }

    @Test
    void anItemIsFirstDueWhenItIsStoredWhereNothingElseIsKept() {
        assertThat(resolved(Phase.LEGACY, SqlServerLegacyClaim.CLAIM))
                .contains("inserted.[CreatedAt], inserted.[DueTimeUtc], inserted.[CreatedAt],");
        assertThat(resolved(Phase.ADDITIVE, SqlServerLegacyClaim.CLAIM))
                .contains("inserted.[CreatedAt], inserted.[DueTimeUtc], inserted.[FirstDueOn],");
    }

    /** Who had a transaction open when the table was flipped has stored no other. */
    @Test
    void theOldMessageIdIsReadAfterTheFlipWhereThereIsNoNewOne() {
        assertThat(resolved(Phase.FLIPPED, SqlServerClaim.READY))
                .contains(", inserted.[MessageIdNew], inserted.[MessageId], ")
                .contains("COALESCE(c.message_id, LOWER(c.old_message_id)) AS message_id");
        for (Phase phase : List.of(Phase.LEGACY, Phase.DUAL)) {
            assertThat(resolved(phase, SqlServerClaim.READY))
                    .contains(", inserted.[MessageId], CAST(NULL AS nvarchar(255)), ")
                    .contains("LOWER(c.message_id) AS message_id");
        }
        assertThat(resolved(Phase.CLEAN, SqlServerClaim.READY))
                .contains(", inserted.[MessageId], CAST(NULL AS nvarchar(255)), ");
    }

    /** The old column of it may be unique, and then no second null would go in. */
    @Test
    void aMessageIdThatIsNoUuidIsRefusedWhileTheOldColumnIsThere() {
        Message message = Message.to("t").id("17").payload("");

        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL, Phase.FLIPPED)) {
            assertThatThrownBy(() -> opened(phase).check(message))
                    .isInstanceOf(OutboxException.class)
                    .hasMessageContaining("must be in phase 4 for a message id that is not a UUID");
            opened(phase)
                    .check(Message.to("t")
                            .id("0b6c5d0e-7a54-4f0e-9c2d-0d6a3c1f5e77")
                            .payload(""));
        }
        opened(Phase.CLEAN).check(message);
    }

    @ParameterizedTest
    @EnumSource(names = "RENAMING", mode = EnumSource.Mode.EXCLUDE)
    void noPredicateHidesAColumnInAFunction(Phase phase) {
        for (String statement : STATEMENTS) {
            assertThat(Conditions.hidingAColumn(resolved(phase, statement))).isEmpty();
        }
        assertThat(Conditions.hidingAColumn(
                        "SELECT 1 FROM t WHERE a = 1 AND (COALESCE(t.[Priority], CAST(1 AS smallint))) = 0"))
                .isNotEmpty();
    }

    /** Not before phase 2 may a message be urgent, so what is not backfilled is as normal as the rest. */
    @Test
    void inPhaseOneNoRowIsMissedForWhatIsNotFilledYet() {
        assertThat(resolved(Phase.ADDITIVE, SqlServerSourceStatements.NEXT_DUE))
                .contains("AND (CAST(1 AS smallint)) = 1 AND");
        assertThat(resolved(Phase.ADDITIVE, SqlServerPurgeBatches.DEAD))
                .contains("AND ([BlocksKey] = 0 OR [BlocksKey] IS NULL) AND");
    }
}
