package dev.outbox.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A place that leases work items: an outbox table, an inbox, a table of the user's own.
 *
 * <p>What every source keeps, checked by {@code SourceContract} of the testkit:
 *
 * <ul>
 *   <li>An item has at most one unexpired lease. A claim takes items that are Ready and due, counts the
 *       attempt, and never waits for a rival.
 *   <li>A key is claimed only if its head, the lowest unfinished sequence, is Ready and due, and no item of
 *       it is leased, or Dead and blocking it. A claim takes consecutive items of a key from the head on.
 *   <li>Settle and renew change an item only while it is Processing under exactly that owner token. What
 *       they did not change they answer: the lease is lost, or another transaction has locked the item's row. They do not
 *       wait for such a lock for longer than a moment, and change everything else.
 *   <li>An item whose lease expired is found by later claims; with no attempt left it becomes Dead. From
 *       its second expiry on it may be put off for up to five minutes.
 * </ul>
 *
 * <p>One instance belongs to one poller. {@link #claim} and {@link #nextDue} are called by one thread at a
 * time; the other methods may be called at the same moment by another. Methods throw {@link
 * dev.outbox.OutboxException}; after an exception the caller tries again later.
 */
public interface Source {
    /** What operators call it, for logs: the name of its table. The default is the name of its class. */
    default String name() {
        return getClass().getSimpleName();
    }

    /**
     * What this source reads from, as an object of this process: pollers of the same queue with the same destination share
     * what they know about the destination. The default shares it with no other source.
     */
    default Object queue() {
        return this;
    }

    /**
     * Leases up to {@code count} items under a fresh owner token, and no more after the one that brings their payloads to
     * {@code maxBytes}. A source whose payloads are all small may ignore the bytes.
     */
    Claim claim(ClaimRequest request);

    /**
     * Ends leases, all in one step. An item that {@linkplain Settlement#holdsBackItsKey() holds back its key}
     * takes along every later item of it under the same token: those go back to Ready, their attempts given
     * back.
     *
     * <p>An item whose row another transaction has locked stays as it is, and so do the later items of its key under the
     * same token, so that a key is settled in its order. They are answered as locked, and settled again later, together.
     */
    Unchanged settle(List<Settlement> settlements);

    /** Prolongs leases: they last this long from now. */
    Unchanged renew(List<Lease> leases, Duration length);

    /**
     * How long until an item that is not due yet will be; empty if none waits. Items that are due but held
     * back by their key do not count, so that nobody spins on a blocked key.
     *
     * @param topics only these; empty means all
     */
    Optional<Duration> nextDue(Set<String> topics);

    /**
     * Removes one batch of Done items older than the source's retention, unless another node is at it. Called again, after
     * a rest, until it removes fewer than 100.
     *
     * @return how many were removed. The default has no retention.
     */
    default int purge() {
        return 0;
    }

    /**
     * Notes that a poller is alive, where operators look for that. Called twice a minute, never with a poll. The default
     * notes nothing.
     */
    default void heartbeat(Heartbeat heartbeat) {}
}
