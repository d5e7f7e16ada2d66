package dev.outbox.delivery;

import dev.outbox.PermanentFailureException;
import dev.outbox.WorkItem;

/**
 * Where items go: a broker, an HTTP endpoint, a mail server. If the call returns, the item is delivered. If it throws, the
 * item is retried, see {@link RetryPolicy}. After a {@link PermanentFailureException} it is Dead at once. After a {@link
 * RetryAfterException} or {@link DestinationUnavailableException} it is retried later, and the attempt does not count.
 *
 * <p>It is called from several threads at a time, but never for two items of one key at once. Delivery is at-least-once:
 * pass {@link WorkItem#messageId()} on, so that the consumer can recognise a redelivery. A call is interrupted when its
 * lease is lost, when it takes longer than {@link PollerBuilder#maxDeliveryTime}, or when the poller is closed and the
 * drain timeout is over.
 */
@FunctionalInterface
public interface Destination {
    void deliver(WorkItem item) throws Exception;

    /** A destination that routes each topic to a destination of its own; add at least one {@link Routes#route route}. */
    static Routes byTopic() {
        return Routes.NONE;
    }
}
