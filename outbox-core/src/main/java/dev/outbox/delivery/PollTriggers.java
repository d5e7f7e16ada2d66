package dev.outbox.delivery;

import dev.outbox.spi.Settlement;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What makes a poller claim before its idle pause is over: something was enqueued, a key was freed, an item of its own is due,
 * or there is room again. Any thread tells it; the polling thread waits for it. Thread-safe.
 */
final class PollTriggers {
    private final NextDue nextDue;
    private final Announcements announcements;
    private final Signal signal = new Signal();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final AtomicBoolean wantsRoom = new AtomicBoolean();
    private final AtomicLong claims = new AtomicLong();

    PollTriggers(PollerOptions options) {
        this.nextDue = new NextDue(options);
        this.announcements = new Announcements(options::now);
    }

    NextDue nextDue() {
        return nextDue;
    }

    Announcements announcements() {
        return announcements;
    }

    /** Poll now: something was enqueued, or a key has become free, or it is time to stop. */
    void wake() {
        woken.set(true);
        signal.ring();
    }

    /** Poll now: something was enqueued, which may also be due only later. */
    void enqueued() {
        announcements.announced();
        nextDue.enqueued();
        wake();
    }

    /** Waits for a trigger, at most this long. An interrupt counts as one. */
    boolean await(long nanos) {
        return signal.await(nanos);
    }

    boolean isWoken() {
        return woken.get();
    }

    /** Whether it was woken since this was asked last. */
    boolean takeWoken() {
        return woken.getAndSet(false);
    }

    /** A claim is about to be made. @return its number */
    long nextClaim() {
        return claims.incrementAndGet();
    }

    /** Whether a claim waits until something is settled. */
    boolean wantsRoom() {
        return wantsRoom.get();
    }

    void wantsRoom(boolean wants) {
        wantsRoom.set(wants);
    }

    /** Something was settled; of interest only if the polling thread waits for room. */
    void madeRoom() {
        if (wantsRoom.get()) {
            wake();
        }
    }

    /** A key may have become free, or an item of ours will be due again. */
    void settled(Verdict verdict) {
        Settlement settlement = verdict.settlement();
        if (settlement.kind() == Settlement.Kind.RETRY) {
            if (nextDue.dueIn(settlement.delay())) {
                signal.ring();
            }
        } else if (verdict.run().isKeyed() && verdict.run().isSettled()) {
            if (settlement.kind() != Settlement.Kind.DONE || mayHaveMore(verdict.run())) {
                wake();
            }
        }
    }

    /**
     * Whether something may have come for the key of this run meanwhile, which can be claimed now. Nothing came if the claim of
     * the run had seen everything and nothing has led to another claim since.
     */
    private boolean mayHaveMore(Run run) {
        return run.claimHadMore() || run.claimNumber() != claims.get() || woken.get() || !announcements.areComplete();
    }
}
