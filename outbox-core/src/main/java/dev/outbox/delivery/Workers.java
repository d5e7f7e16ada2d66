package dev.outbox.delivery;

import dev.outbox.WorkItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * Delivers runs on an executor, a limited number at a time. A worker takes runs until none is left and then
 * ends; so a pool of the poller's own, a shared pool and virtual threads all serve, and an idle poller holds
 * no thread.
 *
 * <p>Where there are several destinations, each route has a lane, and lanes with waiting runs take turns. A route whose calls
 * hang must not get hold of all workers, and it is too late to find that out when it has. So a route gets one more worker
 * only while more are free than it has. One route gets half of the workers at most, the next one half of the others, and
 * so on: of 2<sup>n</sup> workers, n routes that hang leave at least one.
 */
final class Workers {
    private final Executor executor;
    private final int concurrency;
    private final Delivery delivery;
    private final RouteTable routes;
    private final ErrorReport errors;

    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();

    /** Tasks that the executor took and has not begun. */
    private final Set<Worker> promised = ConcurrentHashMap.newKeySet();

    private final Object lock = new Object();
    private final Map<Route, Lane> lanes = new HashMap<>();

    /** Lanes with waiting runs; the one that has waited longest for its turn comes first. */
    private final Set<Lane> waiting = new LinkedHashSet<>();

    private int working;
    private int delivering;

    /** The runs of one route. */
    private static final class Lane {
        private final Deque<Run> runs = new ArrayDeque<>();
        private int workers;
    }

    /** What a worker does next. */
    private record Job(Lane lane, List<Run> runs) {}

    Workers(Executor executor, PollerContext context, Delivery delivery) {
        this.executor = executor;
        this.concurrency = context.options().concurrency();
        this.delivery = delivery;
        this.routes = context.routes();
        this.errors = context.errors();
    }

    /** @throws RejectedExecutionException if the executor takes no more work and no worker is running */
    void add(Collection<Run> runs) {
        synchronized (lock) {
            runs.forEach(this::queue);
        }
        start(runs.size());
    }

    private void start(int most) {
        for (int i = 0; i < most && enter(); i++) {
            start();
        }
    }

    private void queue(Run run) {
        WorkItem next = run.peek();
        Lane lane = lanes.computeIfAbsent(routes.of(next == null ? run.first() : next), route -> new Lane());
        lane.runs.add(run);
        waiting.add(lane);
    }

    /** Stops counting on tasks that were not begun: an executor that was shut down may have dropped them. */
    void forgetPromised() {
        for (Worker worker : List.copyOf(promised)) {
            if (promised.remove(worker)) {
                leave();
            }
        }
    }

    /** Takes the runs that no worker has begun; the caller is responsible for them now. */
    List<Run> takeQueued() {
        List<Run> runs = new ArrayList<>();
        synchronized (lock) {
            for (Lane lane : waiting) {
                runs.addAll(lane.runs);
                lane.runs.clear();
            }
            waiting.clear();
        }
        return runs;
    }

    /** True if this thread is one that delivers. */
    boolean isOwnThread() {
        return threads.contains(Thread.currentThread());
    }

    /** Waits until no worker is left. An interrupt does not end the wait, and is restored after it. */
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

    /** A worker that was forgotten and starts after all needs a place again. */
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
            Job job = takeOrLeave();
            while (job != null) {
                deliver(job);
                job = takeOrLeave();
            }
            left = true;
        } catch (Throwable error) {
            errors.survived("deliver", error);
        } finally {
            if (!left) {
                leave(); // its place must not be lost
            }
            threads.remove(Thread.currentThread());
        }
    }

    /** Whatever goes wrong, the worker goes on; the leases of runs that were not finished expire. */
    private void deliver(Job job) {
        List<Run> goOn = List.of();
        try {
            goOn = delivery.deliver(job.runs);
        } catch (Throwable error) {
            errors.survived("deliver", error);
        } finally {
            done(job, goOn);
        }
        start(goOn.size()); // other workers, because this one may take a run that hangs
    }

    private void done(Job job, List<Run> goOn) {
        synchronized (lock) {
            delivering--;
            job.lane.workers--;
            goOn.forEach(this::queue);
        }
    }

    /** The next job; null if there is none, and then the worker has left. */
    private @Nullable Job takeOrLeave() {
        synchronized (lock) {
            Lane lane = next();
            if (lane == null) {
                leave();
                return null;
            }
            List<Run> runs = new ArrayList<>();
            while (runs.size() < delivery.runsPerCall() && !lane.runs.isEmpty()) {
                runs.add(lane.runs.remove());
            }
            if (lane.runs.isEmpty()) {
                waiting.remove(lane);
            } else if (waiting.size() > 1) {
                waiting.remove(lane);
                waiting.add(lane); // behind the others
            }
            delivering++;
            lane.workers++;
            return new Job(lane, runs);
        }
    }

    /** Whose turn it is; null if no lane has waiting runs and may have one more worker. */
    private @Nullable Lane next() {
        int free = concurrency - delivering;
        for (Lane lane : waiting) {
            if (free > (routes.areSeveral() ? lane.workers : 0)) {
                return lane;
            }
        }
        return null;
    }

    private boolean enter() {
        synchronized (lock) {
            if (working >= concurrency || next() == null) {
                return false;
            }
            working++;
            return true;
        }
    }

    private void leave() {
        synchronized (lock) {
            working--;
            lock.notifyAll();
        }
    }

    private boolean isLast() {
        synchronized (lock) {
            return working == 1;
        }
    }
}
