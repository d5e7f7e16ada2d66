package dev.outbox.migrations.internal.sqlserver;

import dev.outbox.jdbc.Phase;
import dev.outbox.jdbc.internal.catalog.Column;
import dev.outbox.migrations.internal.BackfillStatements;
import dev.outbox.migrations.internal.Literal;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The statements of a backfill on SQL Server.
 *
 * <p>A row of before phase 1 has no sequence; it gets its place in the order of creation, unfinished rows first, all below
 * the numbers of rows that are inserted meanwhile. A row that an old application has stored since lacks the new message
 * id only. In an inbox an old application also leaves new columns behind that it does not know; they follow the old ones.
 */
final class SqlServerBackfill implements BackfillStatements {
    private static final int INVALID_OBJECT_NAME = 208;
    private static final int DEADLOCK_VICTIM = 1205;

    private final LegacyTable table;
    private final RowChecks rows;
    private final String list;
    private final String key;
    private final String condition;

    SqlServerBackfill(LegacyTable table) {
        this.table = table;
        this.list = table.relation("_backfill");
        this.rows = new RowChecks(table, Duration.ZERO);
        this.key = table.inbox() ? "message_id" : "work_item_id";
        this.condition = "(" + rows.incomplete() + ")";
    }

    @Override
    public List<String> list() {
        return List.of("""
                DECLARE @code int, @rows int;
                SELECT @rows = COUNT(*) FROM sys.objects WHERE object_id = 0;
                EXEC @code = sp_getapplock @Resource = %1$s, @LockMode = N'Exclusive', @LockOwner = N'Transaction', @LockTimeout = 600000;
                IF @code < 0
                BEGIN;
                    THROW 50000, N'another backfill of the same table took too long', 1;
                END;
                """.formatted(Literal.national(list)), """
                IF OBJECT_ID(%9$s) IS NULL
                BEGIN
                    CREATE TABLE %1$s (Position bigint NOT NULL PRIMARY KEY, Item %8$s NOT NULL);
                    INSERT INTO %1$s (Position, Item)
                    SELECT (SELECT COALESCE(MAX(b.[Sequence]), 0) FROM %2$s b
                            WHERE b.[Sequence] < (SELECT CAST(q.start_value AS bigint) FROM sys.sequences q
                                WHERE q.object_id = OBJECT_ID(%3$s, N'SO')))
                        + ROW_NUMBER() OVER (ORDER BY CASE WHEN %4$s >= 2 THEN 1 ELSE 0 END, t.%5$s, t.%6$s), t.%6$s
                    FROM %2$s t WHERE %7$s;
                END""".formatted(
                        list,
                        table.quoted(),
                        Literal.national(table.relation("_sequence")),
                        table.inbox() ? rows.toNew("t.", "status") : "t." + column("status"),
                        column(table.inbox() ? "first_seen_on" : "created_on"),
                        column(key),
                        condition,
                        table.stored(key).map(LegacyTable::collated).orElseThrow(),
                        Literal.national(list)));
    }

    @Override
    public String remaining() {
        return "SELECT COUNT_BIG(*) FROM " + list;
    }

    @Override
    public String first() {
        return "SELECT MIN(Position) FROM " + list;
    }

    @Override
    public String last() {
        return "SELECT MAX(Position) FROM " + list;
    }

    @Override
    public String complete(String after, String to) {
        return """
                UPDATE t SET %1$s
                FROM %2$s t WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK) JOIN %3$s l ON t.%4$s = l.Item
                WHERE l.Position > %5$s AND l.Position <= %6$s AND %7$s""".formatted(String.join(", ", assignments()), table.quoted(), list, column(key), after, to, condition);
    }

    /** Without waiting for those that hold rows: what they have not completed stays on the list, or is found at the end. */
    @Override
    public String crossOff(String after, String to) {
        return """
                DELETE l FROM %1$s l
                WHERE l.Position > %2$s AND l.Position <= %3$s AND NOT EXISTS (
                    SELECT 1 FROM %4$s t WITH (READUNCOMMITTED) WHERE t.%5$s = l.Item AND %6$s)""".formatted(list, after, to, table.quoted(), column(key), condition);
    }

    @Override
    public String forget() {
        return "DROP TABLE IF EXISTS " + list;
    }

    /** Rows that an old application stores meanwhile are left for the next run, or this one might never end. */
    @Override
    public String incomplete() {
        return "SELECT COUNT_BIG(*) FROM " + table.quoted() + " t WITH (READUNCOMMITTED) WHERE " + rows.unnumbered();
    }

    @Override
    public Optional<String> deadTuples() {
        return Optional.empty();
    }

    @Override
    public Optional<String> lag() {
        return Optional.empty();
    }

    @Override
    public boolean isListGone(SQLException e) {
        return e.getErrorCode() == INVALID_OBJECT_NAME;
    }

    @Override
    public boolean isDeadlock(SQLException e) {
        return e.getErrorCode() == DEADLOCK_VICTIM;
    }

    @Override
    public String script(int batch, Duration pause) {
        return "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;\n" + TableSql.SET_OPTIONS
                + """
                GO
                DECLARE @at bigint, @last bigint, @left bigint = 1;
                WHILE @left > 0
                BEGIN
                    BEGIN TRANSACTION;
                    %1$s
                    %2$s;
                    COMMIT TRANSACTION;
                    SELECT @at = MIN(Position) - 1, @last = MAX(Position) FROM %3$s;
                    WHILE @last IS NOT NULL
                    BEGIN
                        WHILE @at < @last
                        BEGIN
                            BEGIN TRANSACTION;
                            %4$s;
                            %5$s;
                            COMMIT TRANSACTION;
                            SET @at = @at + %6$d;
                            WAITFOR DELAY '%7$s';
                        END;
                        SELECT @at = MIN(Position) - 1, @last = MAX(Position) FROM %3$s;
                    END;
                    %8$s;
                    SET @left = (%9$s);
                END;
                GO
                """.formatted(
                                list().get(0).strip(),
                                list().get(1),
                                list,
                                complete("@at", "@at + " + batch),
                                crossOff("@at", "@at + " + batch),
                                batch,
                                "%02d:%02d:%02d.%03d"
                                        .formatted(
                                                pause.toHours(),
                                                pause.toMinutesPart(),
                                                pause.toSecondsPart(),
                                                pause.toMillisPart()),
                                forget(),
                                incomplete());
    }

    /** Old columns that contradict each other are set right too, or an old claimer would deliver again. */
    private List<String> assignments() {
        List<String> assignments = new ArrayList<>(List.of(
                "[Sequence] = COALESCE(t.[Sequence], l.Position)",
                "[Priority] = COALESCE(t.[Priority], 1)",
                "[BlocksKey] = COALESCE(t.[BlocksKey], 0)"));
        if (table.inbox()) {
            assignments.addAll(assignmentsOfInbox());
        } else if (table.interim("message_id").isPresent()) {
            assignments.add("[MessageIdNew] = COALESCE(t.[MessageIdNew], LOWER(CAST(t.%s AS nvarchar(36))))"
                    .formatted(column("message_id")));
        }
        if (table.phase().before(Phase.FLIPPED)) {
            table.stored("processed_on").ifPresent(time -> {
                assignments.add(sinceWhen(time));
                table.libraryToken().ifPresent(token -> assignments.add(byUs(time, token)));
            });
        }
        table.processed().ifPresent(processed -> {
            String status = column("status");
            String flag = "[" + processed.name() + "]";
            assignments.add(
                    "%1$s = CASE WHEN t.%2$s = 1 AND t.%1$s < 2 THEN 2 ELSE t.%1$s END".formatted(status, flag));
            assignments.add("%2$s = CASE WHEN t.%1$s = 3 THEN t.%2$s WHEN t.%1$s = 2 THEN 1 ELSE t.%2$s END"
                    .formatted(status, flag));
        });
        return assignments;
    }

    /** A row that is finished and does not say since when would never be purged. */
    private String sinceWhen(Column time) {
        return "[%1$s] = CASE WHEN %2$s THEN COALESCE(t.[%1$s], SYSUTCDATETIME()) ELSE t.[%1$s] END"
                .formatted(time.name(), finished());
    }

    /** A row that was finished just now, and not by the library, would be taken for an old application's. */
    private String byUs(Column time, Column token) {
        return "[%1$s] = CASE WHEN (%2$s) AND t.[%3$s] IS NULL THEN COALESCE(t.[%1$s], NEWID()) ELSE t.[%1$s] END"
                .formatted(token.name(), finished(), time.name());
    }

    private String finished() {
        return table.inbox()
                ? rows.toNew("t.", "status") + " >= 2"
                : "t." + column("status") + " >= 2"
                        + table.processed()
                                .map(flag -> " OR t.[" + flag.name() + "] = 1")
                                .orElse("");
    }

    private List<String> assignmentsOfInbox() {
        Column firstSeen = table.stored("first_seen_on").orElseThrow();
        List<String> assignments = new ArrayList<>(List.of(
                "[ReceiptCount] = COALESCE(t.[ReceiptCount], 1)",
                "[WorkItemId] = COALESCE(t.[WorkItemId], NEWID())",
                "[Consumer] = COALESCE(t.[Consumer], " + Literal.national(String.valueOf(table.consumer())) + ")",
                "[CreatedOn] = COALESCE(t.[CreatedOn], "
                        + (firstSeen.type().equals("datetimeoffset")
                                ? "CAST(SWITCHOFFSET(t.[" + firstSeen.name() + "], 0) AS datetime2(7))"
                                : "t.[" + firstSeen.name() + "]")
                        + ")"));
        if (table.phase().before(Phase.FLIPPED)) { // then the old ones follow
            table.interims()
                    .forEach(logical -> assignments.add(rows.column(logical) + " = " + rows.toNew("t.", logical)));
        }
        return assignments;
    }

    private String column(String logical) {
        return "[" + table.stored(logical).map(Column::name).orElseThrow() + "]";
    }
}
