-- Sees how the tables are doing and what is in them, but no payload, and changes nothing. Who must not see headers
-- either loses that column here; then show does not work.

GRANT SELECT ON [${schema}].[${outbox_table}] (Sequence, WorkItemId, OwnerToken, CreatedOn, DueOn, FirstDueOn, LockedUntil,
    ProcessedOn, AttemptCount, Status, Priority, BlocksKey, Topic, MessageKey, MessageId, CorrelationId, TenantId,
    ContentType, ProcessedBy, LastError, Headers, ExactKey) TO [${role}];
GRANT SELECT ON [${schema}].[${inbox_table}] (Sequence, WorkItemId, OwnerToken, CreatedOn, FirstSeenOn, LastSeenOn, DueOn,
    FirstDueOn, LockedUntil, ProcessedOn, AttemptCount, ReceiptCount, Status, Priority, BlocksKey, Consumer, Source,
    MessageId, Hash, Topic, MessageKey, CorrelationId, TenantId, ContentType, ProcessedBy, LastError, Headers,
    ExactKey, ExactSource, ExactMessageId) TO [${role}];
GRANT SELECT ON [${schema}].[outbox_audit] TO [${role}];
GRANT SELECT ON [${schema}].[outbox_pollers] TO [${role}];
