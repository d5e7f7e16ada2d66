package dev.outbox;

/**
 * How an inbox answers a message whose id is known with another hash. In each case the inbox neither stores nor counts
 * the message, logs a warning, and reports an {@link dev.outbox.event.OutboxEvent.Conflict} to listeners.
 */
public enum OnConflict {
    /** It throws a {@link ConflictException}. The default. */
    THROW,
    /** It answers {@link Receipt.Kind#CONFLICT}. */
    ANSWER,
    /** It answers {@link Receipt.Kind#DUPLICATE}: for producers that are known to change a message when they send it again. */
    DUPLICATE
}
