package dev.outbox.event;

/**
 * Receives an event for everything that happens to work items. It is called on the thread on which the event happened,
 * so it must be quick and thread-safe. An exception or error that it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface OutboxListener {
    void on(OutboxEvent event);
}
