-- The pollers of this schema's tables, by name: each tells of itself every 30 seconds, and is removed after a day of
-- silence. One table per schema, beside the outbox and inbox tables.

CREATE TABLE "outbox_pollers" (
    started_on          timestamptz NOT NULL,
    seen_on             timestamptz NOT NULL,
    last_success_on     timestamptz,
    last_error_on       timestamptz,
    lease_ms            bigint      NOT NULL,
    longest_delivery_ms bigint      NOT NULL,
    phase               text        COLLATE "C" NOT NULL,
    table_name          text        NOT NULL,
    poller              text        NOT NULL,
    version             text        NOT NULL,
    last_error          text,
    CONSTRAINT "outbox_pollers_pkey" PRIMARY KEY (table_name, poller)
) WITH (
    -- Few rows, changed all the time; half-empty pages keep an update on its page.
    fillfactor = 50
);

COMMENT ON COLUMN "outbox_pollers".phase IS 'Of the layout that the poller reads, as the comment of its table has it: 3, 3 renaming, 4';
COMMENT ON COLUMN "outbox_pollers".last_error IS 'The last java.lang.Error that the poller survived, in one line; null if there was none';
