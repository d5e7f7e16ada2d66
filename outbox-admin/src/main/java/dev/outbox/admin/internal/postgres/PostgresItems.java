package dev.outbox.admin.internal.postgres;

/** What a statement on PostgreSQL selects of an item. */
final class PostgresItems {
    static final String COLUMNS = """
            {work_item_id} AS id, {status} AS status, {sequence} AS sequence, {topic} AS topic,
                    {message_key} AS message_key, COALESCE({message_id}, {work_item_id}::text) AS message_id,
                    {correlation_id} AS correlation_id, {tenant_id} AS tenant_id, {consumer} AS consumer,
                    {source} AS source, {attempt_count} AS attempt_count, {created_on} AS created_on, {due_on} AS due_on,
                    {processed_on} AS processed_on, {processed_by} AS processed_by, {blocks_key} AS blocks_key,
                    {last_error} AS last_error""";

    private PostgresItems() {}
}
