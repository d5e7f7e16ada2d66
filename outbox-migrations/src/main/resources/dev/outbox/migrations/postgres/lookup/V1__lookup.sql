-- Indexes to look for items by key, correlation id and tenant, whatever their status. They are opt-in, for every enqueue
-- pays for them. ${outbox_table} is the one placeholder; an inbox table may be named too.
--
-- Each is built while the table is used, so this must not run in a transaction. A build that failed leaves an invalid
-- index: drop it and run this again.

CREATE INDEX CONCURRENTLY IF NOT EXISTS "${outbox_table}_by_key" ON "${outbox_table}" (message_key, sequence)
    WHERE message_key IS NOT NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS "${outbox_table}_by_related" ON "${outbox_table}" (correlation_id, sequence)
    WHERE correlation_id IS NOT NULL;

CREATE INDEX CONCURRENTLY IF NOT EXISTS "${outbox_table}_by_tenant" ON "${outbox_table}" (tenant_id, sequence)
    WHERE tenant_id IS NOT NULL;
