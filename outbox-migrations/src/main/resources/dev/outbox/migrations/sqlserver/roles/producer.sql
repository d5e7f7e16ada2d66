-- Enqueues into the outbox, and sees nothing of it but ids: those tell whether a message whose id the caller gave is
-- there already.

GRANT INSERT ON [${schema}].[${outbox_table}] TO [${role}];
GRANT SELECT ON [${schema}].[${outbox_table}] (WorkItemId, Sequence) TO [${role}];
GRANT UPDATE ON [${schema}].[${outbox_table}_sequence] TO [${role}];
