package dev.outbox.sqlserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.outbox.Message;
import dev.outbox.OutboxException;
import dev.outbox.Priority;
import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.jdbc.internal.catalog.TableName;
import dev.outbox.jdbc.internal.inbox.Identity;
import dev.outbox.jdbc.internal.layout.Layout;
import dev.outbox.jdbc.internal.layout.Reading;
import dev.outbox.jdbc.internal.sqlserver.NationalText;
import dev.outbox.jdbc.internal.sqlserver.SqlServerPurgeBatches;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What statements become for an inbox on its way. */
class SqlServerInboxColumnsTest {
    private static final String BINARY = "Latin1_General_100_BIN2";
    private static final String OLD = "SQL_Latin1_General_CP1_CI_AS";

    private static final Map<String, String> RENAMED = Map.of(
            "FirstSeenUtc", "FirstSeenOn",
            "LastSeenUtc", "LastSeenOn",
            "ProcessedUtc", "ProcessedOn",
            "DueTimeUtc", "DueOn",
            "Attempts", "AttemptCount");

    private static Column column(String name, String type, int length, @Nullable String collation, boolean computed) {
        return SqlServerCatalogs.column(name, type, length, collation, true, computed, false, null, true);
    }

    private static SqlServerColumns table(Phase phase) {
        boolean isNew = !phase.before(Phase.FLIPPED);
        boolean onItsWay = phase != Phase.LEGACY && phase != Phase.CLEAN;
        List<Column> columns = new ArrayList<>();
        RENAMED.forEach((old, now) -> {
            columns.add(
                    column(isNew ? now : old, phase == Phase.CLEAN ? "datetime2" : "datetimeoffset", 10, null, false));
            if (onItsWay) {
                columns.add(column(isNew ? old : now, "datetimeoffset", 10, null, true));
            }
        });
        columns.add(column("Hash", "binary", 32, null, false));
        columns.add(column("LastError", "nvarchar", -1, OLD, false));
        columns.add(column("LockedUntil", "datetimeoffset", 10, null, false));
        columns.add(column("OwnerToken", "uniqueidentifier", 16, null, false));
        columns.add(column(
                "Topic", "nvarchar", phase == Phase.CLEAN ? 510 : 256, phase == Phase.CLEAN ? BINARY : OLD, false));
        columns.add(column("Payload", "nvarchar", -1, OLD, false));
        if (phase == Phase.CLEAN) {
            columns.add(column("Status", "tinyint", 1, null, false));
            columns.add(column("MessageId", "nvarchar", 510, BINARY, false));
            columns.add(column("Source", "nvarchar", 510, BINARY, false));
            columns.add(column("ExactSource", "nvarchar", 512, BINARY, true));
            columns.add(column("ExactMessageId", "nvarchar", 512, BINARY, true));
        } else {
            columns.add(column("Status", "varchar", 16, OLD, false));
            columns.add(column("MessageId", "varchar", 64, OLD, false));
            columns.add(column("Source", "varchar", 64, OLD, false));
        }
        if (onItsWay) {
            columns.add(column("StatusCode", "tinyint", 1, null, false));
            columns.add(column("MessageIdNew", "nvarchar", 510, BINARY, false));
            columns.add(column("SourceNew", "nvarchar", 510, BINARY, false));
            columns.add(column("LibraryToken", "uniqueidentifier", 16, null, false));
        }
        if (phase != Phase.LEGACY) {
            List.of(
                            "Sequence",
                            "WorkItemId",
                            "CreatedOn",
                            "ReceiptCount",
                            "Priority",
                            "BlocksKey",
                            "Consumer",
                            "MessageKey",
                            "CorrelationId",
                            "TenantId",
                            "ContentType",
                            "ProcessedBy",
                            "Headers",
                            "PayloadBytes")
                    .forEach(name -> columns.add(column(name, "nvarchar", 510, BINARY, false)));
            columns.add(column("FirstDueOn", "datetime2", 8, null, false));
            columns.add(column("ExactKey", "nvarchar", 512, BINARY, true));
        }
        return new SqlServerColumns("dbo.inbox", columns, phase, true);
    }

    private static SqlServerTable opened(Phase phase) {
        SqlServerColumns columns = table(phase);
        assertThat(phase == Phase.LEGACY ? columns.missing() : columns.missing(SqlServerSchema.columns(true)))
                .isEmpty();
        Map<String, Reading> all = new HashMap<>(columns.layout(SqlServerSchema.columns(true)));
        SqlServerTable.INDEXES.keySet().forEach(hint -> all.put(hint, Reading.fixed("")));
        Map.of(
                        "next_sequence", "NEXT VALUE FOR \"dbo\".\"inbox_sequence\"",
                        "patience", "1000",
                        "pollers", "[dbo].[outbox_pollers]")
                .forEach((logical, text) -> all.put(logical, Reading.fixed(text)));
        Layout layout =
                new Layout("[dbo].[inbox]", all, columns.written(), Map.of("consumer", new NationalText("billing")));
        return new SqlServerTable(TableName.parse("dbo.inbox"), true, layout, "locks:", false, phase, columns.limits());
    }

    static Layout layout(Phase phase) {
        return opened(phase).layout();
    }

    private static String resolved(Phase phase, String statement) {
        return layout(phase).resolve(statement).text().replaceAll("\\s+", " ").strip();
    }

    @ParameterizedTest
    @EnumSource(names = "RENAMING", mode = EnumSource.Mode.EXCLUDE)
    void everyStatementOfAnInboxIsTsqlInEveryPhaseAndHidesNoColumnInAFunction(Phase phase) {
        for (String statement : List.of(
                SqlServerReceive.RECEIVE,
                SqlServerReceive.ENQUEUE,
                SqlServerRecords.GET,
                SqlServerRecords.MARK_DEAD,
                SqlServerRecords.REQUEUE,
                SqlServerRecords.FORGET,
                SqlServerLegacyClaim.CLAIM,
                SqlServerClaim.READY,
                SqlServerClaim.WAITING,
                SqlServerKeyClaim.KEYS,
                SqlServerSettle.SETTLE,
                SqlServerSettle.RENEW,
                SqlServerItems.FIND,
                SqlServerSourceStatements.EXPIRE,
                SqlServerSourceStatements.NEXT_DUE,
                SqlServerPurgeBatches.DONE,
                SqlServerPurgeBatches.DEAD,
                SqlServerHandling.BEGIN,
                SqlServerChange.BEGIN + ";")) {
            String text = resolved(phase, statement);
            Tsql.parse(text.endsWith(";") ? text : text + ";");
            assertThat(Conditions.hidingAColumn(text)).isEmpty();
        }
    }

    @Test
    void aCanonicalInboxIsWrittenAsStatementsSay() {
        assertThat(opened(Phase.CLEAN).layout().written()).isEmpty();
        assertThat(resolved(Phase.CLEAN, SqlServerReceive.RECEIVE)).doesNotContain("DELETE");
    }

    @Test
    void theTimeAnItemWasFirstDueIsKeptInUtcWhereTheTableHasAColumnForIt() {
        assertThat(resolved(Phase.LEGACY, SqlServerRecords.REQUEUE)).doesNotContain("FirstDueOn");
        assertThat(resolved(Phase.ADDITIVE, SqlServerSourceStatements.EXPIRE))
                .contains("[FirstDueOn] = SWITCHOFFSET(CAST(COALESCE([FirstDueOn], [DueTimeUtc], [FirstSeenUtc])"
                        + " AS datetimeoffset(7)), 0),");
        assertThat(resolved(Phase.CLEAN, SqlServerRecords.REQUEUE)).contains("[FirstDueOn] = NULL");
    }

    @Test
    void aStatusIsWrittenInTextAndInNumber() {
        String set = "UPDATE {table} SET {status = 2} WHERE {work_item_id} = @id AND {status} = 1";
        String text =
                "[Status] = CASE (2) WHEN 0 THEN 'Seen' WHEN 1 THEN 'Processing' WHEN 2 THEN 'Done' ELSE 'Dead' END";

        assertThat(resolved(Phase.LEGACY, set))
                .startsWith("UPDATE [dbo].[inbox] SET " + text + " WHERE [MessageId] = @id AND (CASE [Status] WHEN");
        assertThat(resolved(Phase.DUAL, set))
                .startsWith(
                        "UPDATE [dbo].[inbox] SET [StatusCode] = 2, " + text + " WHERE [MessageId] = @id AND (CASE");
        assertThat(resolved(Phase.FLIPPED, set))
                .isEqualTo("UPDATE [dbo].[inbox] SET [StatusCode] = 2, " + text
                        + " WHERE [WorkItemId] = @id AND [StatusCode] = 1");
    }

    /** Until the flip what old applications write is true; an index of theirs serves it. */
    @Test
    void searchesGoByTheColumnThatIsTrueAndNoFunctionHidesIt() {
        String search = "SELECT 1 FROM {table} e WHERE e.{ready} AND e.{processing} AND e.{done} AND e.{dead}";

        for (Phase phase : List.of(Phase.LEGACY, Phase.ADDITIVE, Phase.DUAL)) {
            assertThat(resolved(phase, search))
                    .endsWith("WHERE e.[Status] = 'Seen' AND e.[Status] = 'Processing' AND e.[Status] = 'Done'"
                            + " AND e.[Status] = 'Dead'");
        }
        assertThat(resolved(Phase.FLIPPED, search)).contains("e.[StatusCode] = 0 AND e.[StatusCode] = 1");
        assertThat(resolved(Phase.CLEAN, search)).contains("e.[Status] = 0 AND e.[Status] = 1");
    }

    /** An index with WHERE Topic IS NOT NULL serves a search that says the same of the same column. */
    @ParameterizedTest
    @EnumSource(names = "RENAMING", mode = EnumSource.Mode.EXCLUDE)
    void aSearchForRowsWithATopicAsksWhatTheFilterOfTheIndexAsks(Phase phase) {
        for (String statement : List.of(
                SqlServerSettle.SETTLE,
                SqlServerSettle.RENEW,
                SqlServerSourceStatements.EXPIRE,
                SqlServerLegacyClaim.CLAIM)) {
            assertThat(resolved(phase, statement))
                    .containsPattern("[ .]\\[Topic] IS NOT NULL")
                    .doesNotContainPattern("COLLATE \\w+\\) IS NOT NULL");
        }
    }

    @Test
    void aMessageIsLookedForByTheKeyThatTheTableHas() {
        for (Phase phase : List.of(Phase.LEGACY, Phase.DUAL, Phase.FLIPPED)) {
            assertThat(resolved(phase, "SELECT 1 FROM {table} WHERE {taken}"))
                    .endsWith("WHERE [MessageId] = CAST(@message_id AS varchar(64))");
        }
        assertThat(resolved(Phase.CLEAN, "SELECT 1 FROM {table} WHERE {taken}"))
                .endsWith("WHERE [ExactSource] = @exact_source AND [ExactMessageId] = @exact_message_id");
    }

    @Test
    void whatTheOldColumnsCannotHoldIsRefusedAtTheCall() {
        SqlServerTable dual = opened(Phase.DUAL);

        refused(
                () -> dual.check(Message.to("t").priority(Priority.HIGH).payload("")),
                "must be in phase 3 for a priority");
        refused(() -> dual.check(Message.to("t").key("k").payload("")), "must be in phase 3 for a key");
        refused(
                () -> opened(Phase.ADDITIVE)
                        .check(Message.to("t").correlationId("c").payload("")),
                "must be in phase 2 for a correlation id in an inbox");
        refused(() -> dual.check(Message.to("t".repeat(129)).payload("")), "topic has 129 characters");
        refused(() -> dual.check(List.of(new Identity("shop", "m".repeat(65)))), "holds at most 64");
        refused(() -> dual.check(List.of(new Identity("läden", "m"))), "source has characters that are not ASCII");
        refused(
                () -> opened(Phase.FLIPPED).check(List.of(new Identity("shop", "m"), new Identity("mall", "m"))),
                "must be in phase 4 for the same message id from several sources");
        opened(Phase.FLIPPED)
                .check(Message.to("t").key("k").priority(Priority.HIGH).payload(""));
        opened(Phase.CLEAN).check(List.of(new Identity("läden", "m".repeat(65)), new Identity("mall", "m")));
    }

    private static void refused(Runnable call, String reason) {
        assertThatThrownBy(call::run).isInstanceOf(OutboxException.class).hasMessageContaining(reason);
    }
}
