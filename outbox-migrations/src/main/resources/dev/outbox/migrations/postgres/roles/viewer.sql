-- Sees how the tables are doing and what is in them, but no payload, and changes nothing. Who must not see headers
-- either loses that column here; then show does not work.

GRANT USAGE ON SCHEMA "${schema}" TO "${role}";
GRANT SELECT (work_item_id, owner_token, sequence, created_on, due_on, first_due_on, locked_until, processed_on,
    attempt_count, status, priority, blocks_key, topic, message_key, message_id, correlation_id, tenant_id, content_type,
    processed_by, last_error, headers) ON "${schema}"."${outbox_table}" TO "${role}";
GRANT SELECT (work_item_id, owner_token, sequence, created_on, first_seen_on, last_seen_on, due_on, first_due_on,
    locked_until, processed_on, attempt_count, receipt_count, status, priority, blocks_key, consumer, source, message_id,
    hash, topic, message_key, correlation_id, tenant_id, content_type, processed_by, last_error, headers)
    ON "${schema}"."${inbox_table}" TO "${role}";
GRANT SELECT ON "${schema}".outbox_audit, "${schema}".outbox_pollers TO "${role}";
