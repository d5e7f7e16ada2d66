package dev.outbox.delivery;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A call of a destination that is under way, with one item or a batch. An interrupt ends the whole call, so a lost lease
 * interrupts it only if no other item of the call still has its lease. Thread-safe.
 */
final class DeliveryCall {
    /** Why a call was interrupted. */
    enum Interruption {
        LEASE_LOST,
        TOO_LONG,
        CLOSING
    }

    private final Thread thread = Thread.currentThread();
    private final long started;
    private final Set<Run> wanted = new HashSet<>();
    private boolean over;
    private @Nullable Interruption interruption;
    private @Nullable Interruption endedBy;

    /** A call that this thread is about to make. */
    DeliveryCall(long started) {
        this.started = started;
    }

    /** The call includes an item of this run. */
    synchronized void add(Run run) {
        wanted.add(run);
    }

    long started() {
        return started;
    }

    /** @return false if the call was over or interrupted already */
    synchronized boolean interrupt(Interruption why) {
        if (over || interruption != null) {
            return false;
        }
        interruption = why;
        thread.interrupt();
        return true;
    }

    /** The run has lost its lease, so the call's result is of no use to it. */
    synchronized void leaseLost(Run run) {
        wanted.remove(run);
        if (wanted.isEmpty()) {
            interrupt(Interruption.LEASE_LOST);
        }
    }

    /** The call has returned. An interrupt meant for it does not outlive it. */
    synchronized void end() {
        over = true;
        if (interruption != null) {
            Thread.interrupted();
        }
        endedBy = interruption;
    }

    /** Why the call was interrupted before it returned; null if it was not. For the thread that made the call. */
    @Nullable
    Interruption endedBy() {
        return endedBy;
    }
}
