package dev.outbox;

/**
 * How an inbox answers a message whose id is known with another hash. In any case the message is neither stored nor
 * counted, a warning is logged, and listeners are told of a {@link dev.outbox.event.OutboxEvent.Conflict}.
 */
public enum OnConflict {
    /** It throws a {@link ConflictException}. The default. */
    THROW,
    /** It answers {@link Receipt.Kind#CONFLICT}. */
    ANSWER,
    /** It answers {@link Receipt.Kind#DUPLICATE}: for producers that are known to change a message when they send it again. */
    DUPLICATE
}
