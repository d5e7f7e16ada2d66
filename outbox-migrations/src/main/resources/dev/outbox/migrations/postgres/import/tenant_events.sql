-- Takes over the events of a table (id, tenantId, eventType, aggregateType, aggregateId, payload, status, error,
-- createdAt, publishedAt) whose status is pending, published or failed. ${source_table} is that table, ${outbox_table}
-- the canonical one.
--
-- Stop the old worker first. Pending becomes Ready, published Done, failed Dead with its error, to be requeued by
-- whoever has looked at it: the old worker never tried again. The aggregate becomes the key and is told in headers too. An
-- event keeps its id as message id, and its work item id follows from that, so that running this twice stores
-- nothing twice, unless what it stored was deleted in between.

BEGIN;

LOCK TABLE ${source_table} IN EXCLUSIVE MODE;

INSERT INTO ${outbox_table} (work_item_id, message_id, topic, message_key, tenant_id, content_type, headers, payload,
    created_on, status, processed_on, last_error)
SELECT md5(e.id::text)::uuid, e.id::text, e."eventType", e."aggregateType" || ':' || e."aggregateId",
    COALESCE(to_jsonb(e) ->> 'tenantId', to_jsonb(e) ->> 'tenant_id'), 'application/json',
    jsonb_build_object('aggregateType', e."aggregateType", 'aggregateId', e."aggregateId")::text, e.payload::text,
    e."createdAt"::timestamptz,
    CASE e.status::text WHEN 'published' THEN 2 WHEN 'failed' THEN 3 ELSE 0 END,
    CASE e.status::text WHEN 'pending' THEN NULL ELSE COALESCE(e."publishedAt"::timestamptz, statement_timestamp()) END,
    left(e.error, 2000)
FROM ${source_table} e
ORDER BY e."createdAt", e.id
ON CONFLICT (work_item_id) DO NOTHING;

COMMIT;
