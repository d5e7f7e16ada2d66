-- Claims, settles and purges, and tells that it is alive. It cannot enqueue: a handler that does needs to be a producer
-- too.

GRANT SELECT, UPDATE, DELETE ON [${schema}].[${outbox_table}] TO [${role}];
GRANT SELECT, UPDATE, DELETE ON [${schema}].[${inbox_table}] TO [${role}];
GRANT SELECT, INSERT, UPDATE, DELETE ON [${schema}].[outbox_pollers] TO [${role}];
