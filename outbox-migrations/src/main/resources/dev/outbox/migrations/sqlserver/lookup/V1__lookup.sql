-- Indexes to look for items by key, correlation id and tenant, whatever their status. They are opt-in, for every enqueue
-- pays for them. ${outbox_table} is the one placeholder; an inbox table may be named too. Building them blocks writers
-- unless your edition can build online: add ONLINE = ON there. It may be repeated: what is there is left as it is.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'[${outbox_table}]') AND name = N'${outbox_table}_ByKey')
CREATE INDEX [${outbox_table}_ByKey] ON [${outbox_table}] (ExactKey, Sequence) WITH (ALLOW_PAGE_LOCKS = OFF);

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'[${outbox_table}]') AND name = N'${outbox_table}_ByRelated')
CREATE INDEX [${outbox_table}_ByRelated] ON [${outbox_table}] (CorrelationId, Sequence)
    WHERE CorrelationId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE object_id = OBJECT_ID(N'[${outbox_table}]') AND name = N'${outbox_table}_ByTenant')
CREATE INDEX [${outbox_table}_ByTenant] ON [${outbox_table}] (TenantId, Sequence)
    WHERE TenantId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
