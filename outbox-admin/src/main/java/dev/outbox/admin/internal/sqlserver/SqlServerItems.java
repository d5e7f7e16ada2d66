package dev.outbox.admin.internal.sqlserver;

/** What a statement on SQL Server selects of an item. */
final class SqlServerItems {
    static final String COLUMNS = """
            {work_item_id} AS id, {status} AS status, {sequence} AS sequence, {topic} AS topic,
                    {message_key} AS message_key,
                    COALESCE({message_id}, LOWER(CAST({work_item_id} AS nvarchar(36)))) AS message_id,
                    {correlation_id} AS correlation_id, {tenant_id} AS tenant_id, {consumer} AS consumer,
                    {source} AS source, {attempt_count} AS attempt_count,
                    CAST({created_on} AS datetimeoffset(7)) AS created_on, CAST({due_on} AS datetimeoffset(7)) AS due_on,
                    CAST({processed_on} AS datetimeoffset(7)) AS processed_on, {processed_by} AS processed_by,
                    {blocks_key} AS blocks_key, {last_error} AS last_error""";

    private SqlServerItems() {}
}
