package dev.outbox;

/** What {@link Handlers} do with an item whose topic has no handler. */
public enum UnknownTopic {
    /** It fails and is tried again: another version of the application may know it. The default. */
    RETRY,
    /** Dead at once. */
    DEAD,
    /** Done unhandled, with a warning in the log and {@link dev.outbox.event.OutboxEvent.Ignored}. */
    IGNORE
}
