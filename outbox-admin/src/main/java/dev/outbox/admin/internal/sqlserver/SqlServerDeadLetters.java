package dev.outbox.admin.internal.sqlserver;

import dev.outbox.admin.internal.DeadLetterStatements;
import java.util.Optional;

/** Dead letters on SQL Server; see PostgresDeadLetters. */
final class SqlServerDeadLetters implements DeadLetterStatements {
    private static final String FILTER = """
            (CAST(:topic AS nvarchar(2000)) IS NULL OR {topic} = CAST(:topic AS nvarchar(2000)))
                      AND (CAST(:key AS nvarchar(2000)) IS NULL OR {exact_key} = CAST(:key AS nvarchar(2000)) + N'.')
                      AND (CAST(:tenant AS nvarchar(2000)) IS NULL OR {tenant_id} = CAST(:tenant AS nvarchar(2000)))
                      AND (CAST(:error AS nvarchar(2000)) IS NULL
                        OR CHARINDEX(LOWER(CAST(:error AS nvarchar(2000))), LOWER({last_error})) > 0)""";

    /** Apart from the other conditions, because the index serves it. */
    private static final String OLD_ENOUGH = """
            {processed_on} < COALESCE(
                        DATEADD(millisecond, -CAST(CAST(:older_than AS bigint) / 1000 % 86400000 AS int),
                            DATEADD(day, -CAST(CAST(:older_than AS bigint) / 86400000000 AS int), SYSUTCDATETIME())),
                        CAST('9999-12-31' AS datetime2(7)))""";

    @Override
    public String newest() {
        return """
            SELECT TOP (CAST(:size AS int)) %1$s
            FROM {table}
            WHERE {status} = 3 AND {processed_on} <= CAST(:at AS datetime2(7))
              AND ({processed_on} < CAST(:at AS datetime2(7)) OR {work_item_id} < CAST(:id AS uniqueidentifier))
              AND %3$s
              AND %2$s
            ORDER BY {processed_on} DESC, {work_item_id} DESC
            """.formatted(SqlServerItems.COLUMNS, FILTER, OLD_ENOUGH);
    }

    @Override
    public String newestUnknown() {
        return """
            SELECT TOP (CAST(:size AS int)) %1$s
            FROM {table}
            WHERE {status} = 3 AND {processed_on} IS NULL AND {work_item_id} < CAST(:id AS uniqueidentifier)
              AND %2$s
            ORDER BY {work_item_id} DESC
            """.formatted(SqlServerItems.COLUMNS, FILTER);
    }

    @Override
    public String oldest() {
        return """
            SELECT TOP (CAST(:size AS int)) dead.*
            FROM (
                SELECT known.*
                FROM (
                    SELECT TOP (CAST(:size AS int)) %1$s
                    FROM {table}
                    WHERE {status} = 3 AND {processed_on} >= CAST(:at AS datetime2(7))
                      AND ({processed_on} > CAST(:at AS datetime2(7)) OR {work_item_id} > CAST(:id AS uniqueidentifier))
                      AND %3$s
                      AND %2$s
                    ORDER BY {processed_on}, {work_item_id}) known
                UNION ALL
                SELECT unknown.*
                FROM (
                    SELECT TOP (CAST(:size AS int)) %1$s
                    FROM {table}
                    WHERE {status} = 3 AND {processed_on} IS NULL
                      AND {work_item_id} > CAST(:unknown_id AS uniqueidentifier)
                      AND %2$s
                    ORDER BY {work_item_id}) unknown) dead
            ORDER BY CASE WHEN dead.processed_on IS NULL THEN 0 ELSE 1 END, dead.processed_on, dead.id
            """.formatted(SqlServerItems.COLUMNS, FILTER, OLD_ENOUGH);
    }

    @Override
    public String count() {
        return """
            SELECT COUNT(*) AS found, COALESCE(SUM(dead.requeueable), 0) AS requeueable
            FROM (
                SELECT TOP (CAST(:most AS int)) CASE
                    WHEN {topic} IS NULL THEN 0
                    WHEN CAST(:window AS bigint) IS NULL THEN 1
                    WHEN {first_seen_on} >= DATEADD(millisecond, -CAST(CAST(:window AS bigint) / 1000 %% 86400000 AS int),
                        DATEADD(day, -CAST(CAST(:window AS bigint) / 86400000000 AS int), SYSUTCDATETIME())) THEN 1
                    ELSE 0 END AS requeueable
                FROM {table}
                WHERE {status} = 3
                  AND ({processed_on} IS NULL OR %2$s)
                  AND %1$s) dead
            """.formatted(FILTER, OLD_ENOUGH);
    }

    /**
     * Each item gets a due time, so that no low-water mark of a poller hides it, and its age counts from there. The item that
     * goes first in its key is due first.
     */
    @Override
    public String requeue() {
        return """
            SET NOCOUNT ON;
            SET XACT_ABORT ON;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            DECLARE @window bigint = :window, @delay bigint = :delay, @spacing bigint = :spacing, @before bigint = :before;
            DECLARE @now datetime2(7) = SYSUTCDATETIME();
            DECLARE @chosen TABLE (Id uniqueidentifier NOT NULL, Attempts int NOT NULL, Place bigint NOT NULL);
            DECLARE @requeued TABLE (Id uniqueidentifier NOT NULL);
            BEGIN TRANSACTION;
            INSERT INTO @chosen (Id, Attempts, Place)
            SELECT {work_item_id}, {attempt_count}, ROW_NUMBER() OVER (ORDER BY {sequence}) - 1
            FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {status} = 3 AND {topic} IS NOT NULL
              AND (@window IS NULL
                OR {first_seen_on} >= DATEADD(millisecond, -CAST(@window / 1000 % 86400000 AS int),
                    DATEADD(day, -CAST(@window / 86400000000 AS int), @now)));
            UPDATE {table} WITH (ROWLOCK) SET {status} = 0, {attempt_count} = 0, {processed_on} = NULL, {blocks_key} = 0,
                {first_due_on} = NULL,
                {due_on} = DATEADD(millisecond, CAST((@delay + @spacing * (@before + c.Place)) / 1000 % 86400000 AS int),
                    DATEADD(day, CAST((@delay + @spacing * (@before + c.Place)) / 86400000000 AS int), @now))
            OUTPUT inserted.{work_item_id} INTO @requeued (Id)
            FROM @chosen c
            WHERE {work_item_id} = c.Id AND {status} = 3 AND {topic} IS NOT NULL;
            INSERT INTO {audit} (Action, Actor, Reason, TableName, WorkItemId, Topic, MessageKey, Consumer, Source,
                MessageId, AttemptCount, LastError, DueOn)
            SELECT N'requeue', :actor, :reason, :table_name, t.{work_item_id}, t.{topic}, t.{message_key}, {consumer},
                {source}, t.{message_id}, c.Attempts, t.{last_error}, t.{due_on}
            FROM {table} t JOIN @chosen c ON t.{work_item_id} = c.Id JOIN @requeued r ON r.Id = c.Id
            WHERE t.{topic} IS NOT NULL;
            COMMIT TRANSACTION;
            SELECT Id AS id FROM @requeued;
            """;
    }

    @Override
    public Optional<EndOfKeyStatements> endOfKey() {
        return Optional.empty();
    }

    @Override
    public String discardOutbox() {
        return """
            SET NOCOUNT ON;
            SET XACT_ABORT ON;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            DECLARE @discarded TABLE (Id uniqueidentifier NOT NULL);
            BEGIN TRANSACTION;
            INSERT INTO @discarded (Id)
            SELECT {work_item_id}
            FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','))
              AND {status} = 3;
            INSERT INTO {audit} (Action, Actor, Reason, TableName, WorkItemId, Topic, MessageKey, Consumer, Source,
                MessageId, AttemptCount, LastError)
            SELECT N'discard', :actor, :reason, :table_name, t.{work_item_id}, t.{topic}, t.{message_key}, {consumer},
                {source}, t.{message_id}, t.{attempt_count}, t.{last_error}
            FROM {table} t JOIN @discarded d ON t.{work_item_id} = d.Id
            WHERE t.{status} = 3;
            DELETE FROM {table} WHERE {status} = 3 AND {work_item_id} IN (SELECT Id FROM @discarded);
            COMMIT TRANSACTION;
            SELECT Id AS id FROM @discarded;
            """;
    }

    /** The item stays as the record of a received message, so that a redelivery has no effect. */
    @Override
    public String discardInbox() {
        return """
            SET NOCOUNT ON;
            SET XACT_ABORT ON;
            SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
            DECLARE @discarded TABLE (Id uniqueidentifier NOT NULL);
            BEGIN TRANSACTION;
            INSERT INTO @discarded (Id)
            SELECT {work_item_id}
            FROM {table} WITH (ROWLOCK, UPDLOCK, READPAST, READCOMMITTEDLOCK)
            WHERE {status} = 3
              AND ({processed_on} BETWEEN CAST(:first AS datetime2(7)) AND CAST(:last AS datetime2(7)) OR {processed_on} IS NULL)
              AND {work_item_id} IN (SELECT CAST(value AS uniqueidentifier) FROM STRING_SPLIT(:ids, N','));
            INSERT INTO {audit} (Action, Actor, Reason, TableName, WorkItemId, Topic, MessageKey, Consumer, Source,
                MessageId, AttemptCount, LastError)
            SELECT N'discard', :actor, :reason, :table_name, t.{work_item_id}, t.{topic}, t.{message_key}, {consumer},
                {source}, t.{message_id}, t.{attempt_count}, t.{last_error}
            FROM {table} t JOIN @discarded d ON t.{work_item_id} = d.Id
            WHERE t.{status} = 3;
            UPDATE {table} SET {status} = 2, {processed_on} = SYSUTCDATETIME(), {blocks_key} = 0, {topic} = NULL,
                {message_key} = NULL, {headers} = NULL, {payload} = NULL, {payload_bytes} = NULL
            WHERE {status} = 3 AND {work_item_id} IN (SELECT Id FROM @discarded);
            COMMIT TRANSACTION;
            SELECT Id AS id FROM @discarded;
            """;
    }
}
