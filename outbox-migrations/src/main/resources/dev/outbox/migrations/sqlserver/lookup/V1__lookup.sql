-- Indexes to look for items by key, correlation id and tenant, whatever their status. They are opt-in, for every enqueue
-- pays for them. ${outbox_table} is the one placeholder; an inbox table may be named too. Building them blocks writers
-- unless your edition can build online: add ONLINE = ON there.

SET ANSI_NULLS, ANSI_PADDING, ANSI_WARNINGS, ARITHABORT, CONCAT_NULL_YIELDS_NULL, QUOTED_IDENTIFIER ON;

CREATE INDEX [${outbox_table}_ByKey] ON [${outbox_table}] (ExactKey, Sequence) WITH (ALLOW_PAGE_LOCKS = OFF);

CREATE INDEX [${outbox_table}_ByRelated] ON [${outbox_table}] (CorrelationId, Sequence)
    WHERE CorrelationId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);

CREATE INDEX [${outbox_table}_ByTenant] ON [${outbox_table}] (TenantId, Sequence)
    WHERE TenantId IS NOT NULL WITH (ALLOW_PAGE_LOCKS = OFF);
