-- What operators did to dead letters, and why: one table per schema, beside the outbox and inbox tables it is about.
-- Never a payload. Nothing here is purged by the library.

CREATE TABLE "outbox_audit" (
    audit_id       bigint      NOT NULL GENERATED ALWAYS AS IDENTITY,
    acted_on       timestamptz NOT NULL DEFAULT statement_timestamp(),
    due_on         timestamptz,
    work_item_id   uuid        NOT NULL,
    attempt_count  integer     NOT NULL,
    action         text        NOT NULL,
    actor          text        NOT NULL,
    reason         text        NOT NULL,
    table_name     text        NOT NULL,
    topic          text,
    message_key    text,
    consumer       text,
    source         text,
    message_id     text,
    last_error     text,
    CONSTRAINT "outbox_audit_pkey" PRIMARY KEY (audit_id),
    CONSTRAINT "outbox_audit_action" CHECK (action IN ('requeue', 'discard'))
);

-- What happened to one item.
CREATE INDEX "outbox_audit_item" ON "outbox_audit" (work_item_id);

COMMENT ON COLUMN "outbox_audit".attempt_count IS 'Before the action, as are topic, key and error';
COMMENT ON COLUMN "outbox_audit".due_on IS 'When a requeued item is due';
