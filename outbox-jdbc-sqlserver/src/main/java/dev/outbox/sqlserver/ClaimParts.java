package dev.outbox.sqlserver;

/** What every claim begins with, says it took, and answers. */
final class ClaimParts {
    /** What all batches declare: what was claimed, and the topics asked for, with a full stop at the end. */
    static final String DECLARE = """
            DECLARE @now datetime2(7) = SYSUTCDATETIME(), @token uniqueidentifier = :token,
                @owner nvarchar(255) = :owner, @lease int = :lease, @filtered bit = :filtered, @listed bit = :listed,
                @count int = :count, @left int = :count, @most int, @max_bytes bigint = :max_bytes,
                @spare bigint = :max_bytes;
            DECLARE @topics TABLE (Wanted nvarchar(256) COLLATE Latin1_General_100_BIN2 NOT NULL);
            INSERT INTO @topics (Wanted)
            SELECT j.t + N'.' FROM OPENJSON(:topics) WITH (t nvarchar(255) '$.t') j;
            DECLARE @claimed TABLE (Item {id_type} NOT NULL, sequence bigint NULL, attempt_count int NOT NULL,
                created_on datetimeoffset(7) NOT NULL, due_on datetimeoffset(7) NULL, first_due_on datetimeoffset(7) NULL, priority smallint NULL,
                topic nvarchar(255) NULL, message_key nvarchar(255) NULL, message_id nvarchar(255) NULL,
                old_message_id nvarchar(255) NULL, source nvarchar(255) NULL, correlation_id nvarchar(255) NULL,
                tenant_id nvarchar(255) NULL, content_type nvarchar(255) NULL, headers nvarchar(max) NULL, payload nvarchar(max) NULL,
                payload_bytes varbinary(max) NULL);
            """;

    static final String OUTPUT = """
            OUTPUT {out_work_item_id}, {out_sequence}, {out_attempt_count}, {out_created_on}, {out_due_on}, {out_first_due_on},
                    {out_priority}, {out_topic}, {out_message_key}, {out_message_id}, {out_old_message_id},
                    {out_source}, {out_correlation_id}, {out_tenant_id}, {out_content_type}, {out_headers},
                    {out_payload}, {out_payload_bytes}
                INTO @claimed (Item, sequence, attempt_count, created_on, due_on, first_due_on, priority, topic, message_key,
                    message_id, old_message_id, source, correlation_id, tenant_id, content_type, headers, payload,
                    payload_bytes)""";

    /** What is left of the batch, of rows and of bytes. */
    static final String LEFT = """
            SELECT @left = @count - COUNT(*), @spare = @max_bytes
                    - COALESCE(SUM(COALESCE(DATALENGTH(payload), DATALENGTH(payload_bytes), 0)), 0)
                FROM @claimed;""";

    /**
     * Times as datetimeoffset, so that no time zone of the JVM has a say; a table may have them as such, or as
     * datetime2 in UTC. A row of phase 1 that was not backfilled has no sequence and no priority yet. A claim that
     * reached its bound in bytes is cut, even if nothing was behind that.
     */
    static final String ANSWER = """
            CAST(CASE WHEN @spare > 0 THEN 0 ELSE 1 END AS bit) AS cut, CAST(@now AS datetimeoffset(7)) AS at, c.{item_text} AS id,
                COALESCE(c.sequence, 0) AS sequence, c.attempt_count, c.created_on, c.due_on, c.first_due_on,
                COALESCE(c.priority, 1) AS priority, c.topic, c.message_key, {as_message_id} AS message_id, c.source,
                c.correlation_id, c.tenant_id, c.content_type, c.headers, c.payload, c.payload_bytes
            FROM (SELECT 1 AS one) once LEFT JOIN @claimed c ON once.one = 1""";

    private ClaimParts() {}
}
