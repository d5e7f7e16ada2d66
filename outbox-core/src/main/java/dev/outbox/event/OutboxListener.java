package dev.outbox.event;

/**
 * Told of everything that happens to work items. Called on the thread on which it happened, so it must be
 * quick and thread-safe. An exception or error it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface OutboxListener {
    void on(OutboxEvent event);
}
