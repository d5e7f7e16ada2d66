-- The canonical outbox table. ${outbox_table} is the one placeholder; the schema is the one in force (the
-- user's default schema). One batch without GO.
--
-- Filtered indexes and the computed column need the usual SET options in every session that writes: those that
-- Microsoft's drivers set by themselves. SQL Server ignores spaces at the end when it compares texts, in every
-- collation; ExactKey is the key and a full stop, so that they count.
-- No index holds LockedUntil, so that renewing a lease touches no index. Claims lock rows, never pages.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

CREATE SEQUENCE "${outbox_table}_sequence" AS bigint START WITH 1 INCREMENT BY 1 CACHE 1;

CREATE TABLE [${outbox_table}] (
    Sequence      bigint           NOT NULL
        CONSTRAINT [${outbox_table}_NextSequence] DEFAULT (NEXT VALUE FOR "${outbox_table}_sequence"),
    WorkItemId    uniqueidentifier NOT NULL,
    OwnerToken    uniqueidentifier NULL,
    CreatedOn     datetime2(7)     NOT NULL CONSTRAINT [${outbox_table}_CreatedNow] DEFAULT (SYSUTCDATETIME()),
    DueOn         datetime2(7)     NULL,
    FirstDueOn    datetime2(7)     NULL,
    LockedUntil   datetime2(7)     NULL,
    ProcessedOn   datetime2(7)     NULL,
    AttemptCount  int              NOT NULL CONSTRAINT [${outbox_table}_NoAttempt] DEFAULT (0),
    Status        tinyint          NOT NULL CONSTRAINT [${outbox_table}_Ready0] DEFAULT (0),
    Priority      smallint         NOT NULL CONSTRAINT [${outbox_table}_Normal] DEFAULT (1),
    BlocksKey     bit              NOT NULL CONSTRAINT [${outbox_table}_NoBlock] DEFAULT (0),
    Topic         nvarchar(255)    COLLATE Latin1_General_100_BIN2 NOT NULL,
    MessageKey    nvarchar(255)    COLLATE Latin1_General_100_BIN2 NULL,
    MessageId     nvarchar(255)    COLLATE Latin1_General_100_BIN2 NULL,
    CorrelationId nvarchar(255)    NULL,
    TenantId      nvarchar(255)    NULL,
    ContentType   nvarchar(255)    NULL,
    ProcessedBy   nvarchar(255)    NULL,
    LastError     nvarchar(2000)   NULL,
    Headers       nvarchar(max)    NULL,
    Payload       nvarchar(max)    NULL,
    PayloadBytes  varbinary(max)   NULL,
    ExactKey      AS (CAST(REVERSE(STUFF(REVERSE(MessageKey), 1, 0, N'.')) AS nvarchar(256)) COLLATE Latin1_General_100_BIN2),
    CONSTRAINT [${outbox_table}_Item] PRIMARY KEY NONCLUSTERED (WorkItemId),
    CONSTRAINT [${outbox_table}_Order] UNIQUE CLUSTERED (Sequence) WITH (ALLOW_PAGE_LOCKS = OFF),
    CONSTRAINT [${outbox_table}_Status] CHECK (Status BETWEEN 0 AND 3),
    CONSTRAINT [${outbox_table}_Priority] CHECK (Priority BETWEEN 0 AND 2),
    CONSTRAINT [${outbox_table}_SomeKey] CHECK (DATALENGTH(MessageKey) > 0),
    CONSTRAINT [${outbox_table}_OnePayload] CHECK
        (Payload IS NULL AND PayloadBytes IS NOT NULL OR Payload IS NOT NULL AND PayloadBytes IS NULL)
);

-- No key: within each band of priority what is due at once, in sequence order, and then what waits for a time (delayed,
-- backing off or given back), by that time. No filter names a column that legacy tables call otherwise: such a column
-- could not be renamed.
CREATE INDEX [${outbox_table}_Ready] ON [${outbox_table}] (Priority, DueOn, Sequence) INCLUDE (Topic)
    WHERE Status = 0 AND MessageKey IS NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Rows with a key, by the time they wait for, to know when the next one is due.
CREATE INDEX [${outbox_table}_KeyDue] ON [${outbox_table}] (DueOn) INCLUDE (ExactKey, Topic)
    WHERE Status = 0 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- The first entry of a key tells all: a leased row, else its head.
CREATE INDEX [${outbox_table}_Key] ON [${outbox_table}] (ExactKey, Status DESC, Sequence) INCLUDE (DueOn, Topic, Priority)
    WHERE Status < 2 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Keys that a Dead row blocks.
CREATE INDEX [${outbox_table}_KeyBlocked] ON [${outbox_table}] (ExactKey)
    WHERE Status = 3 AND BlocksKey = 1 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Keys with an urgent row, which may be the head.
CREATE INDEX [${outbox_table}_KeyHigh] ON [${outbox_table}] (ExactKey)
    WHERE Status = 0 AND Priority = 0 AND MessageKey IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

-- Leased rows, for the search for expired leases.
CREATE INDEX [${outbox_table}_Leased] ON [${outbox_table}] (Sequence)
    WHERE Status = 1 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Finished rows by age, for purge.
CREATE INDEX [${outbox_table}_Done] ON [${outbox_table}] (ProcessedOn)
    WHERE Status = 2 WITH (ALLOW_PAGE_LOCKS = OFF);

-- Dead rows by when they died, for people and for their own retention.
CREATE INDEX [${outbox_table}_Dead] ON [${outbox_table}] (ProcessedOn, WorkItemId)
    WHERE Status = 3 WITH (ALLOW_PAGE_LOCKS = OFF);

-- A batch of any size locks rows and nothing more.
ALTER TABLE [${outbox_table}] SET (LOCK_ESCALATION = DISABLE);

-- The phase of the layout, for the library to read.
DECLARE @schema sysname = SCHEMA_NAME();
EXEC sp_addextendedproperty @name = N'dev.outbox', @value = N'phase 4',
    @level0type = N'SCHEMA', @level0name = @schema, @level1type = N'TABLE', @level1name = N'${outbox_table}';
