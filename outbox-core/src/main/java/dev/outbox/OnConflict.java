package dev.outbox;

/**
 * What an inbox does with a message whose id is known with another hash. Whatever it is, the message is neither
 * stored nor counted, a warning is logged and {@link dev.outbox.event.OutboxEvent.Conflict} is told.
 */
public enum OnConflict {
    /** {@link ConflictException}. The default. */
    THROW,
    /** {@link Receipt.Kind#CONFLICT}. */
    ANSWER,
    /** {@link Receipt.Kind#DUPLICATE}: for producers that are known to change what they send again. */
    DUPLICATE
}
