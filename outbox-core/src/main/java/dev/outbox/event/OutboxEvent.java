package dev.outbox.event;

import dev.outbox.Message;
import dev.outbox.Receipt;
import dev.outbox.WorkItem;
import dev.outbox.spi.Lease;
import java.time.Duration;
import java.util.List;

/**
 * Something that happened to work items. Each kind of event is a record of this interface.
 *
 * <p>A later version may bring new kinds, and new components of a kind. So a {@code switch} over events needs a {@code
 * default}, and a listener reads a component by its accessor rather than by a record pattern.
 */
public interface OutboxEvent {
    /** These messages were stored in the caller's transaction, which may still roll back. */
    record Enqueued(List<Message> messages) implements OutboxEvent {}

    /** An inbox was given a message, for the first time or again, in a transaction that may still roll back. */
    record Received(String consumer, String source, String messageId, Receipt receipt) implements OutboxEvent {}

    /** An inbox was given another message under an id that it knows: it was neither stored nor processed. */
    record Conflict(String consumer, String source, String messageId, Receipt receipt) implements OutboxEvent {}

    /** A poller claimed from its source and got this many items, possibly none. */
    record Polled(String poller, int items, Duration took) implements OutboxEvent {}

    /** These items were leased to a poller. */
    record Claimed(String poller, List<WorkItem> items, Duration took) implements OutboxEvent {}

    /** The item was delivered, and settled as Done. {@code delivery} is the time the destination took. */
    record Done(String poller, WorkItem item, Duration delivery) implements OutboxEvent {}

    /** The item failed; it is Ready again, and due after the delay. */
    record Retried(String poller, WorkItem item, Duration delay, String error) implements OutboxEvent {}

    /** The item was given up: the failure was permanent, no attempt was left, or it was older than the maximum age. */
    record Dead(String poller, WorkItem item, String error) implements OutboxEvent {}

    /** The item is about to be settled as Done although no handler took it, because of {@code UnroutedTopic.IGNORE}. */
    record Ignored(String poller, WorkItem item) implements OutboxEvent {}

    /**
     * The item was given back undelivered: the poller stops, an earlier item of the key failed, or the destination accepts
     * nothing.
     */
    record Released(String poller, WorkItem item) implements OutboxEvent {}

    /** A settle of the item came too late: the lease was lost, and nothing was changed. */
    record Fenced(String poller, WorkItem item) implements OutboxEvent {}

    /** These leases were renewed. */
    record Renewed(String poller, List<Lease> leases) implements OutboxEvent {}

    /** The poller dropped or interrupted these items, because their lease expired or was taken. */
    record LeaseLost(String poller, List<WorkItem> items) implements OutboxEvent {}

    /** A destination accepts nothing, and is called less often until it does. {@code topic} is one of its topics. */
    record DestinationDown(String poller, String topic, Throwable cause, Duration pause) implements OutboxEvent {}

    /** A destination that was called less often has accepted an item. */
    record DestinationUp(String poller, String topic) implements OutboxEvent {}

    /** This many Done items were removed, because their retention was over. */
    record Purged(int count) implements OutboxEvent {}

    /**
     * The poller survived an {@link Error}. {@code where} is {@code destination}, or the thread of the poller on which it was
     * thrown: claim, settle, renew, purge or deliver.
     */
    record ErrorSurvived(String poller, String where, Throwable error) implements OutboxEvent {}

    /** The source could not be reached, or refused; the poller backs off and tries again. */
    record PollFailed(String poller, Throwable cause, Duration backoff) implements OutboxEvent {}
}
