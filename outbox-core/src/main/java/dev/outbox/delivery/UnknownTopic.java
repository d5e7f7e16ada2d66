package dev.outbox.delivery;

/** What {@link Handlers} do with an item whose topic has no handler. */
public enum UnknownTopic {
    /**
     * It is left for a poller that has a handler for it: a poller with these handlers claims only their topics. If the poller
     * is told its {@link PollerBuilder#topics topics}, one among them without a handler is as with {@link #RETRY}. The
     * default.
     */
    LEAVE,
    /** It fails and is tried again. */
    RETRY,
    /** Dead at once. */
    DEAD,
    /** Done unhandled, with a warning in the log and {@link dev.outbox.event.OutboxEvent.Ignored}. */
    IGNORE
}
