-- What operators did to dead letters, and why: one table per schema, beside the outbox and inbox tables it is about.
-- Never a payload. Nothing here is purged by the library.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

CREATE TABLE [outbox_audit] (
    AuditId      bigint           IDENTITY(1, 1) NOT NULL,
    ActedOn      datetime2(7)     NOT NULL CONSTRAINT [outbox_audit_Now] DEFAULT (SYSUTCDATETIME()),
    DueOn        datetime2(7)     NULL,
    WorkItemId   uniqueidentifier NOT NULL,
    AttemptCount int              NOT NULL,
    Action       nvarchar(20)     NOT NULL,
    Actor        nvarchar(255)    NOT NULL,
    Reason       nvarchar(2000)   NOT NULL,
    TableName    nvarchar(255)    NOT NULL,
    Topic        nvarchar(255)    NULL,
    MessageKey   nvarchar(255)    NULL,
    Consumer     nvarchar(255)    NULL,
    Source       nvarchar(255)    NULL,
    MessageId    nvarchar(255)    NULL,
    LastError    nvarchar(2000)   NULL,
    CONSTRAINT [outbox_audit_Id] PRIMARY KEY CLUSTERED (AuditId),
    CONSTRAINT [outbox_audit_Action] CHECK (Action IN (N'requeue', N'discard'))
);

-- What happened to one item.
CREATE INDEX [outbox_audit_Item] ON [outbox_audit] (WorkItemId);
