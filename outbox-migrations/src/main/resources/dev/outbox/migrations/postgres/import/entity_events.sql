-- Takes over the events of a table (id, entity_id, sequence, message, created_at), with sent_at where rows are kept
-- after they were sent. ${source_table} is that table, ${outbox_table} the canonical one, ${topic} the topic of all.
--
-- Stop the old relay first. What it has not sent becomes Ready, in the order of creation; the entity becomes the key.
-- An event keeps its id as message id, which consumers know it by, and its work item id follows from that, so that
-- running this twice stores nothing twice, unless what it stored was deleted in between.

BEGIN;

LOCK TABLE ${source_table} IN EXCLUSIVE MODE;

INSERT INTO ${outbox_table} (work_item_id, message_id, topic, message_key, payload, created_on)
SELECT md5(e.id)::uuid, e.id, '${topic}', NULLIF(e.entity_id, ''), e.message, e.created_at::timestamptz
FROM ${source_table} e
WHERE to_jsonb(e) ->> 'sent_at' IS NULL
ORDER BY e.created_at, e.sequence, e.id
ON CONFLICT (work_item_id) DO NOTHING;

COMMIT;
