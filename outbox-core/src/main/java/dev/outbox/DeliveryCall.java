package dev.outbox;

import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One call of a destination under way, for one item or a batch. An interrupt is for the whole call: a lost lease
 * interrupts it only if no other item of it is still wanted. Thread-safe.
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

    /** A call that this thread is about to make. */
    DeliveryCall(long started) {
        this.started = started;
    }

    /** An item of this run is part of it. */
    synchronized void add(Run run) {
        wanted.add(run);
    }

    long started() {
        return started;
    }

    /** @return whether it was under way and not interrupted yet */
    synchronized boolean interrupt(Interruption why) {
        if (over || interruption != null) {
            return false;
        }
        interruption = why;
        thread.interrupt();
        return true;
    }

    /** The result for this run will be of no use. */
    synchronized void leaseLost(Run run) {
        wanted.remove(run);
        if (wanted.isEmpty()) {
            interrupt(Interruption.LEASE_LOST);
        }
    }

    /** The call has returned. An interrupt meant for it does not outlive it. */
    synchronized @Nullable Interruption end() {
        over = true;
        if (interruption != null) {
            Thread.interrupted();
        }
        return interruption;
    }
}
