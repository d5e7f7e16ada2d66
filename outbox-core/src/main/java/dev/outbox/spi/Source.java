package dev.outbox.spi;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * A place that leases work items: an outbox table, an inbox, or a table of your own.
 *
 * <p>Every source keeps these rules, which {@code SourceContract} of the testkit checks:
 *
 * <ul>
 *   <li>An item has at most one unexpired lease. A claim takes items that are Ready and due, counts the
 *       attempt, and never waits for another claim.
 *   <li>A key is claimed only if its head, the lowest unfinished sequence, is Ready and due, and no item of
 *       it is leased, or Dead and blocking it. A claim takes consecutive items of a key from the head on.
 *   <li>Settle and renew change an item only while it is Processing under exactly that owner token. They return the
 *       leases that they did not change, because the lease is lost or another transaction has locked the item's row.
 *       They wait for such a lock only for a moment, and change all other items.
 *   <li>An item whose lease expired is found by later claims; with no attempt left it becomes Dead. From its second
 *       expiry on, claims may find it up to five minutes later.
 * </ul>
 *
 * <p>One instance belongs to one poller. {@link #claim} and {@link #nextDue} are called by one thread at a time; the
 * other methods may be called by other threads at the same time. Methods throw {@link dev.outbox.OutboxException}; after
 * an exception the caller tries again later.
 */
public interface Source {
    /** The name that logs show to operators: the name of its table. The default is the name of its class. */
    default String name() {
        return getClass().getSimpleName();
    }

    /**
     * Identifies, within this process, the queue that this source reads from: pollers of the same queue with the same
     * destination share what they know about the destination. By default a source shares its queue with no other source.
     */
    default Object queue() {
        return this;
    }

    /**
     * Leases up to {@code count} items under a fresh owner token. The item that brings the sum of their payloads to {@code
     * maxBytes} is the last one. A source whose payloads are all small may ignore the bytes.
     */
    Claim claim(ClaimRequest request);

    /**
     * Ends leases, all in one step. If an item {@linkplain Settlement#holdsBackItsKey() holds back its key}, every later item
     * of the key under the same token goes back to Ready as well, and its attempt is given back.
     *
     * <p>An item whose row another transaction has locked stays as it is, and so do the later items of its key under the
     * same token, so that a key is settled in its order. They are returned as locked; the caller settles them again
     * later, together.
     */
    Unchanged settle(List<Settlement> settlements);

    /** Renews leases: they last this long from now. */
    Unchanged renew(List<Lease> leases, Duration length);

    /**
     * The time until the next item that is not due yet becomes due; empty if there is none. Items that are due but held
     * back by their key do not count, so that no poller spins on a blocked key.
     *
     * @param topics only these; empty means all
     */
    Optional<Duration> nextDue(Set<String> topics);

    /**
     * Removes one batch of Done items older than the source's retention, unless another node is purging. It is called again,
     * after a rest, until it removes fewer than 100.
     *
     * @return how many were removed. The default removes nothing.
     */
    default int purge() {
        return 0;
    }

    /**
     * Stores the state of a poller where operators look for it. Called twice a minute, on a thread that does not claim. The
     * default stores nothing.
     */
    default void heartbeat(Heartbeat heartbeat) {}
}
