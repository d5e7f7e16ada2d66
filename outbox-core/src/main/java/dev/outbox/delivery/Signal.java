package dev.outbox.delivery;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** A doorbell: a ring that comes before the wait is not lost, and many rings wake once. */
final class Signal {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition rung = lock.newCondition();
    private boolean ringing;

    void ring() {
        lock.lock();
        try {
            ringing = true;
            rung.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for a ring, at most this long. An interrupt counts as one. */
    boolean await(long nanos) {
        lock.lock();
        try {
            long left = nanos;
            while (!ringing && left > 0) {
                left = rung.awaitNanos(left);
            }
            boolean heard = ringing;
            ringing = false;
            return heard;
        } catch (InterruptedException e) {
            return true;
        } finally {
            lock.unlock();
        }
    }
}
