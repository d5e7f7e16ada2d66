package dev.outbox.delivery;

import dev.outbox.WorkItem;
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
    private final List<WorkItem> items;
    private final TimedClaim claim;

    /** Items without a settle yet. */
    private final Set<String> open = new HashSet<>();

    /** Local end of the lease, counted from before it was asked for: never later than the database's. */
    private long deadline;

    private boolean lost;
    private int next;

    /** Items that a settle under way ends. */
    private final Set<String> settling = new HashSet<>();

    /** Items that take no room, because another transaction has locked their rows. */
    private final Set<String> aside = new HashSet<>();

    private @Nullable DeliveryCall call;

    /** Lets it be delivered although its route is slow. */
    private Route.@Nullable Permit permit;

    /** Other runs of that route, which go on if the call that the permit allows is a success. */
    private List<Run> behind = List.of();

    /** When something last happened to it: it was claimed, begun, called, judged or settled. */
    private long progress;

    Run(List<WorkItem> items, TimedClaim claim) {
        this.items = List.copyOf(items);
        this.claim = claim;
        this.progress = claim.began();
        this.deadline = claim.deadline();
        items.forEach(item -> open.add(item.id()));
    }

    int size() {
        return items.size();
    }

    synchronized void permit(Route.Permit permit) {
        this.permit = permit;
    }

    synchronized Route.@Nullable Permit permit() {
        return permit;
    }

    /** These wait for what becomes of the call that its permit allows. */
    synchronized void waitBehind(List<Run> others) {
        behind = List.copyOf(others);
    }

    synchronized boolean hasOthersBehind() {
        return !behind.isEmpty();
    }

    /** Those that wait behind it: they are the caller's now. */
    synchronized List<Run> takeBehind() {
        List<Run> taken = behind;
        behind = List.of();
        return taken;
    }

    /** The item whose delivery was begun last; the first if none was. */
    synchronized WorkItem begun() {
        return items.get(Math.max(0, next - 1));
    }

    boolean isKeyed() {
        return items.get(0).key() != null;
    }

    WorkItem first() {
        return items.get(0);
    }

    long claimNumber() {
        return claim.number();
    }

    /** Whether its claim may have left something behind. */
    boolean claimHadMore() {
        return claim.claim().more();
    }

    Instant claimedAt() {
        return claim.claim().at();
    }

    Lease lease(WorkItem item) {
        return claim.claim().lease(item);
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
        progress = now;
        return items.get(next++);
    }

    /**
     * A call with the item that was begun is about to be made.
     *
     * @return false if the lease is gone: the call must be made without it
     */
    synchronized boolean calling(DeliveryCall call) {
        if (isLost(call.started())) {
            return false;
        }
        this.call = call;
        call.add(this);
        progress = call.started();
        return true;
    }

    /** Its worker is busy with other runs and will come to it. */
    synchronized void waits(long now) {
        progress = now;
    }

    /** The call has returned. */
    synchronized void called(long now) {
        call = null;
        progress = now;
    }

    /** What has not been begun; after this nothing more can be. */
    synchronized List<WorkItem> takeRest() {
        List<WorkItem> rest = new ArrayList<>(items.subList(next, items.size()));
        next = items.size();
        return rest;
    }

    /**
     * Interrupts the call under way, if there is one and it has not been interrupted yet.
     *
     * @return whether it was
     */
    synchronized boolean interrupt(DeliveryCall.Interruption why) {
        return call != null && call.interrupt(why);
    }

    synchronized boolean isDeliveringSince(long nanos, long now) {
        return call != null && now - call.started() >= nanos;
    }

    /** Whether no call is under way and nothing has happened to it for this long. */
    synchronized boolean isStuck(long nanos, long now) {
        return call == null && now - progress >= nanos;
    }

    /** Whether nothing of it has been begun. */
    synchronized boolean isUntouched() {
        return next == 0;
    }

    /** A settle of the item is under way: renewing it would only be in the way, and cannot tell whether it is lost. */
    synchronized void settling(WorkItem item) {
        settling.add(item.id());
    }

    /** The settle did not change the item. */
    synchronized void notSettled(WorkItem item) {
        settling.remove(item.id());
    }

    /** @return whether it took room until now */
    synchronized boolean setAside(WorkItem item) {
        return open.contains(item.id()) && aside.add(item.id());
    }

    /** Its lease has ended, or is given up. @return whether it was open until now */
    synchronized boolean settled(WorkItem item) {
        return open.remove(item.id());
    }

    /** Whether it takes no room, because another transaction has locked its row. */
    synchronized boolean isAside(WorkItem item) {
        return aside.contains(item.id());
    }

    synchronized boolean isSettled() {
        return open.isEmpty();
    }

    /** Items whose lease is still needed. */
    synchronized List<WorkItem> leased() {
        return items.stream()
                .filter(item -> open.contains(item.id()) && !settling.contains(item.id()))
                .toList();
    }

    synchronized long deadline() {
        return deadline;
    }

    /** Whether the source said that the lease is gone. */
    synchronized boolean isTakenAway() {
        return lost;
    }

    synchronized boolean isLost(long now) {
        return lost || deadline - now <= 0;
    }

    synchronized void renewed(long deadline) {
        this.deadline = deadline;
    }

    /** The lease is gone: nothing more is begun, and a call that is for nothing else is interrupted. */
    synchronized void lose() {
        lost = true;
        if (call != null) {
            call.leaseLost(this);
        }
    }
}
