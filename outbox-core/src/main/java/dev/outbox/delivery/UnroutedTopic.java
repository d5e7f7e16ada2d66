package dev.outbox.delivery;

/** What {@link TransactionalRoutes} do with an item whose topic has no route. */
public enum UnroutedTopic {
    /**
     * The item is left for a poller that has a route for its topic: a poller with these routes claims only their topics.
     * If you set the {@link PollerBuilder#topics topics} of the poller, it treats an item of one of them without a route
     * as {@link #RETRY} does. The default.
     */
    LEAVE,
    /** The item fails and is retried. */
    RETRY,
    /** The item is Dead at once. */
    DEAD,
    /**
     * The item becomes Done unhandled; the poller logs a warning and reports {@link
     * dev.outbox.event.OutboxEvent.Ignored}.
     */
    IGNORE
}
