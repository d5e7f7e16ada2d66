-- Requeues, discards and purges, and sees payloads. What it did stays in the audit table: it can add there, but change
-- nothing.

GRANT SELECT, UPDATE, DELETE ON [${schema}].[${outbox_table}] TO [${role}];
GRANT SELECT, UPDATE, DELETE ON [${schema}].[${inbox_table}] TO [${role}];
GRANT SELECT, INSERT ON [${schema}].[outbox_audit] TO [${role}];
GRANT SELECT ON [${schema}].[outbox_pollers] TO [${role}];
