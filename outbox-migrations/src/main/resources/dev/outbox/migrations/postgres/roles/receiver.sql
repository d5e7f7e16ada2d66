-- Receives and enqueues into the inbox: records that a message came, and how often.

GRANT USAGE ON SCHEMA "${schema}" TO "${role}";
GRANT INSERT ON "${schema}"."${inbox_table}" TO "${role}";
GRANT SELECT (consumer, source, message_id, hash, receipt_count, first_seen_on, last_seen_on),
    UPDATE (receipt_count, last_seen_on) ON "${schema}"."${inbox_table}" TO "${role}";
