package dev.outbox;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Delivers runs on an executor, at most so many at a time. A worker takes runs until none is left and then
 * goes; so an executor of threads, a shared pool and virtual threads all serve, and an idle poller holds
 * none of them.
 */
final class Workers {
    private final Executor executor;
    private final int concurrency;
    private final Delivery delivery;
    private final Consumer<Throwable> onError;

    private final ConcurrentLinkedQueue<Run> queue = new ConcurrentLinkedQueue<>();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** Tasks that the executor took and has not begun. */
    private final Set<Worker> promised = ConcurrentHashMap.newKeySet();

    private final Object lock = new Object();
    private int working;

    Workers(Executor executor, int concurrency, Delivery delivery, Consumer<Throwable> onError) {
        this.executor = executor;
        this.concurrency = concurrency;
        this.delivery = delivery;
        this.onError = onError;
    }

    /** @throws RejectedExecutionException if the executor takes no more work and nobody is at it */
    void add(Collection<Run> runs) {
        queue.addAll(runs);
        for (int i = 0; i < runs.size() && !queue.isEmpty() && enter(); i++) {
            start();
        }
    }

    /** Counts no longer on tasks that were not begun: an executor that was shut down may have dropped them. */
    void forgetPromised() {
        for (Worker worker : List.copyOf(promised)) {
            if (promised.remove(worker)) {
                leave();
            }
        }
    }

    /** Runs that nobody has begun; they are the caller's now. */
    List<Run> takeQueued() {
        return take(Integer.MAX_VALUE);
    }

    /** True if this thread is one that delivers. */
    boolean isOwnThread() {
        return threads.contains(Thread.currentThread());
    }

    /** Waits until nobody delivers any more. An interrupt does not end the wait, and is restored after it. */
    boolean awaitIdle(long nanos) {
        long end = System.nanoTime() + nanos;
        boolean interrupted = false;
        try {
            synchronized (lock) {
                long left = end - System.nanoTime();
                while (working > 0 && left > 0) {
                    try {
                        lock.wait(left / 1_000_000, (int) (left % 1_000_000));
                    } catch (InterruptedException e) {
                        interrupted = true;
                    }
                    left = end - System.nanoTime();
                }
                return working == 0;
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private void start() {
        Worker worker = new Worker();
        promised.add(worker);
        boolean started = false;
        try {
            executor.execute(worker);
            started = true;
        } catch (RejectedExecutionException e) {
            if (isLast()) {
                throw e;
            }
        } finally {
            if (!started && promised.remove(worker)) {
                leave();
            }
        }
    }

    /** One that was forgotten and comes after all needs a place again. */
    private final class Worker implements Runnable {
        @Override
        public void run() {
            if (promised.remove(this) || enter()) {
                work();
            }
        }
    }

    private void work() {
        threads.add(Thread.currentThread());
        boolean left = false;
        try {
            do {
                left = false;
                List<Run> runs = take(delivery.runsPerCall());
                while (!runs.isEmpty()) {
                    deliver(runs);
                    runs = take(delivery.runsPerCall());
                }
                left = leave();
            } while (!queue.isEmpty() && enter());
        } catch (Throwable error) {
            onError.accept(error);
        } finally {
            if (!left) {
                leave(); // its place must not be lost
            }
            threads.remove(Thread.currentThread());
        }
    }

    /** Whatever goes wrong, the worker goes on; the leases of runs that were not finished expire. */
    private void deliver(List<Run> runs) {
        try {
            delivery.deliver(runs);
        } catch (Throwable error) {
            onError.accept(error);
        }
    }

    private List<Run> take(int most) {
        List<Run> runs = new ArrayList<>();
        Run run;
        while (runs.size() < most && (run = queue.poll()) != null) {
            runs.add(run);
        }
        return runs;
    }

    private boolean enter() {
        synchronized (lock) {
            if (working >= concurrency) {
                return false;
            }
            working++;
            return true;
        }
    }

    /** Always true, for the recheck after leaving: a run added just before must not be left behind. */
    private boolean leave() {
        synchronized (lock) {
            working--;
            lock.notifyAll();
            return true;
        }
    }

    private boolean isLast() {
        synchronized (lock) {
            return working == 1;
        }
    }
}
