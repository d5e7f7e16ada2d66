-- The pollers of this schema's tables, by name: each tells of itself every 30 seconds, and is removed after a day of
-- silence. One table per schema, beside the outbox and inbox tables.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

CREATE TABLE [outbox_pollers] (
    TableName         nvarchar(127) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Poller            nvarchar(255) COLLATE Latin1_General_100_BIN2 NOT NULL,
    Version           nvarchar(255) NOT NULL,
    Phase             nvarchar(20)  COLLATE Latin1_General_100_BIN2 NOT NULL,
    StartedOn         datetime2(7)  NOT NULL,
    SeenOn            datetime2(7)  NOT NULL,
    LastSuccessOn     datetime2(7)  NULL,
    LeaseMs           bigint        NOT NULL,
    LongestDeliveryMs bigint        NOT NULL,
    LastErrorOn       datetime2(7)  NULL,
    LastError         nvarchar(2000) NULL,
    CONSTRAINT [outbox_pollers_Name] PRIMARY KEY CLUSTERED (TableName, Poller)
);
