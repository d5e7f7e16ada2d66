CREATE TABLE outbox_events (
    id VARCHAR(255) PRIMARY KEY,
    entity_id VARCHAR(255) NOT NULL,
    sequence BIGINT NOT NULL,
    message TEXT NOT NULL,
    created_at TIMESTAMP NOT NULL DEFAULT NOW(),
    sent_at TIMESTAMP NULL,
    failed_at TIMESTAMP NULL,
    last_error TEXT NULL
);

CREATE INDEX idx_outbox_events_unsent ON outbox_events (sequence)
    WHERE sent_at IS NULL AND failed_at IS NULL;
