package dev.outbox;

import dev.outbox.spi.Claim;
import dev.outbox.spi.Lease;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Items delivered one after the other: the run of a key, or one unkeyed item. Shared between the worker
 * that delivers it, the renewer and the settler; thread-safe.
 */
final class Run {
    /** Why a delivery under way was interrupted. */
    enum Interruption {
        LEASE_LOST,
        TOO_LONG,
        CLOSING
    }

    private final List<WorkItem> items;
    private final Claim claim;

    /** Items without a settle yet. */
    private final Set<String> open = new HashSet<>();

    /** Items whose loss has been told. */
    private final Set<String> toldLost = new HashSet<>();

    private final long firstDeadline;

    /** Local end of the lease, counted from before it was asked for: never later than the database's. */
    private long deadline;

    private boolean lost;
    private int next;
    private @Nullable String settling;
    private @Nullable Thread deliverer;
    private long deliveryStarted;
    private @Nullable Interruption interruption;

    Run(List<WorkItem> items, Claim claim, long deadline) {
        this.items = List.copyOf(items);
        this.claim = claim;
        this.firstDeadline = deadline;
        this.deadline = deadline;
        items.forEach(item -> open.add(item.id()));
    }

    int size() {
        return items.size();
    }

    boolean isKeyed() {
        return items.get(0).key() != null;
    }

    Instant claimedAt() {
        return claim.at();
    }

    Lease lease(WorkItem item) {
        return claim.lease(item);
    }

    /** The item whose delivery would begin next, or null at the end. */
    synchronized @Nullable WorkItem peek() {
        return next < items.size() ? items.get(next) : null;
    }

    /**
     * Begins the delivery of the next item. The last look before it: a worker that was paused past its lease
     * stops here.
     *
     * @return null at the end of the run, or if its lease is gone
     */
    synchronized @Nullable WorkItem begin(long now) {
        if (next >= items.size() || isLost(now)) {
            return null;
        }
        deliverer = Thread.currentThread();
        deliveryStarted = now;
        return items.get(next++);
    }

    /** Delivery returned. An interrupt meant for it does not outlive it. */
    synchronized @Nullable Interruption end() {
        Interruption was = interruption;
        deliverer = null;
        interruption = null;
        if (was != null) {
            Thread.interrupted();
        }
        return was;
    }

    /** What has not been begun; after this nothing more can be. */
    synchronized List<WorkItem> takeRest() {
        List<WorkItem> rest = new ArrayList<>(items.subList(next, items.size()));
        next = items.size();
        return rest;
    }

    /**
     * Interrupts the delivery under way, if there is one and it has not been interrupted yet.
     *
     * @return whether it was
     */
    synchronized boolean interrupt(Interruption why) {
        if (deliverer == null || interruption != null) {
            return false;
        }
        interruption = why;
        deliverer.interrupt();
        return true;
    }

    synchronized boolean isDeliveringSince(long nanos, long now) {
        return deliverer != null && now - deliveryStarted >= nanos;
    }

    /** Whether nobody has begun it, this long after the first lease would have ended. */
    synchronized boolean isWaiting(long nanos, long now) {
        return next == 0 && now - firstDeadline >= nanos;
    }

    /** The item is being settled in its own transaction: renewing it would only be in the way. */
    synchronized void settling(@Nullable WorkItem item) {
        settling = item == null ? null : item.id();
    }

    /** @return whether it was open until now */
    synchronized boolean settled(WorkItem item) {
        return open.remove(item.id());
    }

    synchronized boolean isSettled() {
        return open.isEmpty();
    }

    /** Items whose lease is still needed. */
    synchronized List<WorkItem> leased() {
        return items.stream()
                .filter(item -> open.contains(item.id()) && !item.id().equals(settling))
                .toList();
    }

    synchronized long deadline() {
        return deadline;
    }

    synchronized boolean isLost(long now) {
        return lost || deadline - now <= 0;
    }

    synchronized void renewed(long deadline) {
        this.deadline = deadline;
    }

    /** The lease is gone: nothing more is begun, and what is under way is interrupted. */
    synchronized void lose() {
        lost = true;
        interrupt(Interruption.LEASE_LOST);
    }

    /** Those of these items whose loss has not been told yet. */
    synchronized List<WorkItem> newlyLost(List<WorkItem> items) {
        return items.stream().filter(item -> toldLost.add(item.id())).toList();
    }
}
