package dev.outbox.delivery;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One of a poller's own threads, which does its work again and again until it is stopped. Whatever the work throws, it is
 * reported and begun anew after a pause: only {@link Poller#close()} ends a poller.
 */
abstract class PollerThread {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /** How much longer than the drain timeout a close waits for a statement under way. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** After an error. */
    private static final Duration RESTART = Duration.ofSeconds(1);

    /** A thread that fails again and again does not outlive its poller. */
    private static final int MOST_RESTARTS_WHEN_STOPPED = 5;

    final PollerOptions options;
    private final String role;
    private final ErrorReport errors;
    private final Signal restart = new Signal();
    private volatile @Nullable Thread thread;
    private volatile boolean stopped;

    /** @param role names the thread, and tells where an error was survived */
    PollerThread(PollerContext context, String role) {
        this.options = context.options();
        this.errors = context.errors();
        this.role = role;
    }

    /** Works until {@link #isStopped()}. */
    abstract void work();

    /** Ends whatever the thread waits for. */
    abstract void wake();

    final void start() {
        Thread started = new Thread(this::keepWorking, "outbox-" + options.name() + "-" + role);
        thread = started;
        started.start();
    }

    /** Has the work end soon. */
    final void stop() {
        stopped = true;
        wake();
        restart.ring();
    }

    final boolean isStopped() {
        return stopped;
    }

    final boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    private void keepWorking() {
        for (int whenStopped = 0; whenStopped < MOST_RESTARTS_WHEN_STOPPED; whenStopped += stopped ? 1 : 0) {
            try {
                work();
                return;
            } catch (Throwable error) {
                errors.survived(role, error);
                restart.await(RESTART.toNanos());
            }
        }
    }

    /** Waits until the thread has ended; one that hangs in the database is left behind. An interrupt does not end the wait. */
    final void join() {
        Thread joined = thread;
        if (joined == null || isCurrent()) {
            return;
        }
        long end = System.nanoTime() + options.drainTimeout().plus(PATIENCE).toNanos();
        boolean interrupted = false;
        long left = millisUntil(end);
        while (left > 0 && joined.isAlive()) {
            try {
                joined.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = millisUntil(end);
        }
        if (joined.isAlive()) {
            LOG.warn("poller {}: stopped waiting for thread {}", options.name(), joined.getName());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static long millisUntil(long nanos) {
        return Duration.ofNanos(nanos - System.nanoTime()).toMillis();
    }
}
