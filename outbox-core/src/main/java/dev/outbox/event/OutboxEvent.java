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
    /** Stored in the caller's transaction, which may still roll back. */
    record Enqueued(List<Message> messages) implements OutboxEvent {}

    /** An inbox was given a message, for the first time or again, in a transaction that may still roll back. */
    record Received(String consumer, String source, String messageId, Receipt receipt) implements OutboxEvent {}

    /** An inbox was given another message under an id that it knows: it was neither stored nor processed. */
    record Conflict(String consumer, String source, String messageId, Receipt receipt) implements OutboxEvent {}

    /** A source was asked for items, and had so many; zero is told too. */
    record Polled(String poller, int items, Duration took) implements OutboxEvent {}

    /** Leased to a poller. */
    record Claimed(String poller, List<WorkItem> items, Duration took) implements OutboxEvent {}

    /** Delivered, and settled as Done. {@code delivery} is the time the destination took. */
    record Done(String poller, WorkItem item, Duration delivery) implements OutboxEvent {}

    /** Ready again after a failure, due after the delay. */
    record Retried(String poller, WorkItem item, Duration delay, String error) implements OutboxEvent {}

    /** Given up: a permanent failure, no attempt left, or older than the maximum age. */
    record Dead(String poller, WorkItem item, String error) implements OutboxEvent {}

    /** About to be settled as Done without having been handled, as {@code UnroutedTopic.IGNORE} wants. */
    record Ignored(String poller, WorkItem item) implements OutboxEvent {}

    /** Given back without a verdict: shutdown, an earlier item of its key failed, or its destination accepts nothing. */
    record Released(String poller, WorkItem item) implements OutboxEvent {}

    /** A settle that came too late: the lease was lost, and nothing was changed. */
    record Fenced(String poller, WorkItem item) implements OutboxEvent {}

    /** Leases prolonged. */
    record Renewed(String poller, List<Lease> leases) implements OutboxEvent {}

    /** Items dropped undelivered or interrupted, because their lease ran out or was taken. */
    record LeaseLost(String poller, List<WorkItem> items) implements OutboxEvent {}

    /** A destination accepts nothing, and is called less often until it does. {@code topic} is one of its. */
    record DestinationDown(String poller, String topic, Throwable cause, Duration pause) implements OutboxEvent {}

    /** A destination that was called less often has accepted an item. */
    record DestinationUp(String poller, String topic) implements OutboxEvent {}

    /** Done items removed by retention. */
    record Purged(int count) implements OutboxEvent {}

    /**
     * An {@link Error} was thrown and survived. {@code where} is {@code destination}, or the part of the poller whose
     * thread it was: claim, settle, renew, purge or deliver.
     */
    record ErrorSurvived(String poller, String where, Throwable error) implements OutboxEvent {}

    /** The source could not be reached or refused; the poller backs off and goes on. */
    record PollFailed(String poller, Throwable cause, Duration backoff) implements OutboxEvent {}
}
