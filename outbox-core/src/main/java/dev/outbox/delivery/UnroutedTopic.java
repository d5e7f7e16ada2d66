package dev.outbox.delivery;

/** What {@link TransactionalRoutes} do with an item whose topic has no route. */
public enum UnroutedTopic {
    /**
     * The item is left for a poller that has a route for its topic: a poller with these routes claims only their topics. If
     * the {@link PollerBuilder#topics topics} of the poller are given, an item of one among them without a route is treated as
     * with {@link #RETRY}. The default.
     */
    LEAVE,
    /** The item fails and is retried. */
    RETRY,
    /** The item is Dead at once. */
    DEAD,
    /** The item is Done unhandled, with a warning in the log and {@link dev.outbox.event.OutboxEvent.Ignored}. */
    IGNORE
}
