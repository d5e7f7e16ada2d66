package dev.outbox.event;

/**
 * Is told of everything that happens to work items. It is called on the thread on which that happened, so it must be
 * quick and thread-safe. An exception or error that it throws is logged and otherwise ignored.
 */
@FunctionalInterface
public interface OutboxListener {
    void on(OutboxEvent event);
}
