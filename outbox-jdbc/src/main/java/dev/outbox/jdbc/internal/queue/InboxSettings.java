package dev.outbox.jdbc.internal.queue;

import dev.outbox.OnConflict;
import dev.outbox.jdbc.internal.inbox.Redelivery;
import java.time.Duration;

/**
 * What the options say that only an inbox has.
 *
 * @param consumer who receives
 * @param onConflict what becomes of another message under a known id
 * @param lockTimeout how long receive and enqueue wait for another transaction that holds the same message or key
 * @param redelivery how late a message may come again
 */
record InboxSettings(String consumer, OnConflict onConflict, Duration lockTimeout, Redelivery redelivery) {}
