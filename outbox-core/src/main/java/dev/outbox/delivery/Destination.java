package dev.outbox.delivery;

import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;

/**
 * Where items go: a broker, an HTTP endpoint, a mail server. Returning normally means delivered; any
 * exception means try again (see {@link RetryPolicy}), {@link PermanentFailureException} means Dead at
 * once, {@link RetryAfterException} and {@link DestinationUnavailableException} mean later without counting an attempt.
 *
 * <p>Called from several threads at a time, never for two items of one key at once. Delivery is
 * at-least-once: pass {@link WorkItem#messageId()} on, so that the consumer can recognise a repetition. A
 * call is interrupted when its lease is lost or the poller's shutdown deadline passes.
 */
@FunctionalInterface
public interface Destination {
    void deliver(WorkItem item) throws Exception;

    /** A destination that leads each topic to another one; add at least one {@link Routes#route route}. */
    static Routes byTopic() {
        return Routes.NONE;
    }
}
