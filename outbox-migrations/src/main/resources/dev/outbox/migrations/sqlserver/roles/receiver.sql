-- Receives and enqueues into the inbox: records that a message came, and how often.

GRANT INSERT ON [${schema}].[${inbox_table}] TO [${role}];
GRANT SELECT ON [${schema}].[${inbox_table}] (WorkItemId, Sequence, Consumer, Source, ExactSource, MessageId, ExactMessageId,
    Hash, ReceiptCount, FirstSeenOn, LastSeenOn) TO [${role}];
GRANT UPDATE ON [${schema}].[${inbox_table}] (ReceiptCount, LastSeenOn) TO [${role}];
GRANT UPDATE ON [${schema}].[${inbox_table}_sequence] TO [${role}];
