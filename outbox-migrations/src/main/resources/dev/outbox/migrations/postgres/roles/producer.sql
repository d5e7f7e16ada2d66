-- Enqueues into the outbox, and sees nothing of it but ids: those tell whether a message whose id the caller gave is
-- there already.

GRANT USAGE ON SCHEMA "${schema}" TO "${role}";
GRANT INSERT ON "${schema}"."${outbox_table}" TO "${role}";
GRANT SELECT (work_item_id) ON "${schema}"."${outbox_table}" TO "${role}";
