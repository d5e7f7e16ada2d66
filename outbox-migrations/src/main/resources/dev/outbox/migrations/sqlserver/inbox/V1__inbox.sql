-- The canonical inbox table. ${inbox_table} is the one placeholder; the schema is the one in force (the
-- user's default schema). One batch without GO.
--
-- It is the outbox table, per consumer, and the identity of a message is unique. A row without a Topic is
-- the record of a message that was received: finished from the start, so that no poller can claim it. Receiving
-- it again changes no column of any index. What the outbox table says about SET options and the Exact columns
-- holds here too. They are not stored but in indexes, so that a legacy table gets them without being rewritten; a
-- primary key would want them stored.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

CREATE SEQUENCE "${inbox_table}_sequence" AS bigint START WITH 1 INCREMENT BY 1 CACHE 1;

CREATE TABLE [${inbox_table}] (
    Sequence      bigint           NOT NULL
        CONSTRAINT [${inbox_table}_NextSequence] DEFAULT (NEXT VALUE FOR "${inbox_table}_sequence"),
    WorkItemId    uniqueidentifier NOT NULL,
    OwnerToken    uniqueidentifier NULL,
    CreatedOn     datetime2(7)     NOT NULL CONSTRAINT [${inbox_table}_CreatedNow] DEFAULT (SYSUTCDATETIME()),
    FirstSeenOn   datetime2(7)     NOT NULL,
    LastSeenOn    datetime2(7)     NOT NULL,
    DueOn         datetime2(7)     NULL,
    FirstDueOn    datetime2(7)     NULL,
    LockedUntil   datetime2(7)     NULL,
    ProcessedOn   datetime2(7)     NULL,
    AttemptCount  int              NOT NULL CONSTRAINT [${inbox_table}_NoAttempt] DEFAULT (0),
    ReceiptCount  int              NOT NULL CONSTRAINT [${inbox_table}_OneReceipt] DEFAULT (1),
    Status        tinyint          NOT NULL CONSTRAINT [${inbox_table}_Ready0] DEFAULT (0),
    Priority      smallint         NOT NULL CONSTRAINT [${inbox_table}_Normal] DEFAULT (1),
    BlocksKey     bit              NOT NULL CONSTRAINT [${inbox_table}_NoBlock] DEFAULT (0),
    Consumer      nvarchar(255)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    Source        nvarchar(255)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    MessageId     nvarchar(255)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    Hash          varbinary(32)    NULL,
    Topic         nvarchar(255)    COLLATE Latin1_General_100_BIN2 NULL,
    MessageKey    nvarchar(255)    COLLATE Latin1_General_100_BIN2 NULL,
    CorrelationId nvarchar(255)    NULL,
    TenantId      nvarchar(255)    NULL,
    ContentType   nvarchar(255)    NULL,
    ProcessedBy   nvarchar(255)    NULL,
    LastError     nvarchar(2000)   NULL,
    Headers       nvarchar(max)    NULL,
    Payload       nvarchar(max)    NULL,
    PayloadBytes  varbinary(max)   NULL,
    ExactKey       AS (CAST(REVERSE(STUFF(REVERSE(MessageKey), 1, 0, N'.')) AS nvarchar(256)) COLLATE Latin1_General_100_BIN2),
    ExactSource    AS (CAST(REVERSE(STUFF(REVERSE(Source), 1, 0, N'.')) AS nvarchar(256)) COLLATE Latin1_General_100_BIN2),
    ExactMessageId AS (CAST(REVERSE(STUFF(REVERSE(MessageId), 1, 0, N'.')) AS nvarchar(256)) COLLATE Latin1_General_100_BIN2),
    CONSTRAINT [${inbox_table}_Order] PRIMARY KEY CLUSTERED (Sequence) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT [${inbox_table}_Message] UNIQUE NONCLUSTERED (Consumer, ExactSource, ExactMessageId),
    CONSTRAINT [${inbox_table}_Status] CHECK (Status BETWEEN 0 AND 3),
    CONSTRAINT [${inbox_table}_Priority] CHECK (Priority BETWEEN 0 AND 2),
    CONSTRAINT [${inbox_table}_SomeKey] CHECK (DATALENGTH(MessageKey) > 0),
    CONSTRAINT [${inbox_table}_Receipts] CHECK (ReceiptCount >= 1),
    CONSTRAINT [${inbox_table}_Finished] CHECK (Topic IS NOT NULL OR Status >= 2),
    CONSTRAINT [${inbox_table}_OnePayload] CHECK
        (Topic IS NULL OR Payload IS NULL AND PayloadBytes IS NOT NULL OR Payload IS NOT NULL AND PayloadBytes IS NULL)
);

-- How pollers address what they have claimed.
CREATE UNIQUE INDEX [${inbox_table}_Item] ON [${inbox_table}] (WorkItemId)
    WHERE Topic IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- No key: within each band of priority what is due at once, in sequence order, and then what waits for a time (delayed,
-- backing off or given back), by that time. No filter names a column that legacy tables call otherwise: such a column
-- could not be renamed.
CREATE INDEX [${inbox_table}_Ready] ON [${inbox_table}] (Consumer, Priority, DueOn, Sequence) INCLUDE (Topic)
    WHERE Status = 0 AND MessageKey IS NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Rows with a key, by the time they wait for, to know when the next one is due.
CREATE INDEX [${inbox_table}_KeyDue] ON [${inbox_table}] (Consumer, DueOn) INCLUDE (ExactKey, Topic)
    WHERE Status = 0 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- The first entry of a key tells all: a leased row, else its head.
CREATE INDEX [${inbox_table}_Key] ON [${inbox_table}] (Consumer, ExactKey, Status DESC, Sequence) INCLUDE (DueOn, Topic, Priority)
    WHERE Status < 2 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Keys that a Dead row blocks.
CREATE INDEX [${inbox_table}_KeyBlocked] ON [${inbox_table}] (Consumer, ExactKey)
    WHERE Status = 3 AND BlocksKey = 1 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Keys with an urgent row, which may be the head.
CREATE INDEX [${inbox_table}_KeyHigh] ON [${inbox_table}] (Consumer, ExactKey)
    WHERE Status = 0 AND Priority = 0 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Leased rows, for the search for expired leases.
CREATE INDEX [${inbox_table}_Leased] ON [${inbox_table}] (Consumer, Sequence)
    WHERE Status = 1 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Finished rows by age, for purge.
CREATE INDEX [${inbox_table}_Done] ON [${inbox_table}] (Consumer, ProcessedOn)
    WHERE Status = 2 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Dead rows by when they died, for people and for their own retention.
CREATE INDEX [${inbox_table}_Dead] ON [${inbox_table}] (ProcessedOn, WorkItemId)
    WHERE Status = 3 WITH (ALLOW_PAGE_LOCKS = OFF);

-- A batch of any size locks rows and nothing more.
ALTER TABLE [${inbox_table}] SET (LOCK_ESCALATION = DISABLE);

-- The phase of the layout, for the library to read.
DECLARE @schema sysname = SCHEMA_NAME();
EXEC sp_addextendedproperty @name = N'dev.outbox', @value = N'inbox phase 4',
    @level0type = N'SCHEMA', @level0name = @schema, @level1type = N'TABLE', @level1name = N'${inbox_table}';
