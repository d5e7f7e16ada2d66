package dev.outbox.delivery;

import dev.outbox.OutboxException;
import dev.outbox.delivery.internal.Purging;
import dev.outbox.event.OutboxEvent;
import dev.outbox.internal.Require;
import dev.outbox.spi.Settlement;
import dev.outbox.spi.Source;
import dev.outbox.spi.WakeUp;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves items from a source to a destination and settles what happened.
 *
 * <p>Started, it has a thread that claims, one that settles, one that renews leases and one that purges,
 * and delivers on its own threads or the given executor. Each of the four uses a connection while it runs a statement, so
 * that none waits for another: at most four at a time, mostly two; a
 * transactional destination one more per item under way. Any number of pollers, in one JVM or many, may
 * share a source's table.
 *
 * <p>Only {@link #close()} ends it. An exception or {@link Error} of a destination is a failed attempt. An exception or
 * error in one of its own threads, {@link OutOfMemoryError} included, is logged, told to listeners and noted with the
 * heartbeat; the thread goes on after a second.
 *
 * <p>Thread-safe: any method may be called from any thread, a destination's included.
 */
public final class Poller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /** How long close() waits for an interrupted delivery to return, and for a database to come back. */
    private static final Duration GRACE = Duration.ofSeconds(5);

    /** How much longer than the drain timeout close() waits for a statement under way. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /** After an error in one of its own threads. */
    private static final Duration RESTART = Duration.ofSeconds(1);

    /** A thread that fails again and again does not outlive its poller. */
    private static final int MOST_RESTARTS_AT_CLOSE = 5;

    private enum State {
        NEW,
        RUNNING,
        STOPPING,
        CLOSED
    }

    private final PollerOptions options;
    private final InFlight inFlight;
    private final AtomicReference<State> state = new AtomicReference<>(State.NEW);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final RouteTable routes;
    private final PollLoop loop;
    private final Settler settler;
    private final FailureLog log;
    private final ErrorReport errors;
    private final SettleLinger linger;
    private final Renewer renewer;
    private final Delivery delivery;
    private final HeartbeatSender vitals;
    private final Signal renewal = new Signal();
    private final Signal purging = new Signal();
    private final Signal settlePause = new Signal();
    private final Signal restart = new Signal();
    private final List<Thread> threads = new ArrayList<>();
    private final List<WakeUp.Subscription> subscriptions = new ArrayList<>();
    private @Nullable ExecutorService ownExecutor;
    private volatile @Nullable Workers workers;
    private long nextBeat;
    private volatile boolean settlerStops;
    private volatile boolean renewerStops;

    Poller(PollerOptions options, PollerBuilder.Form form, Object destination) {
        this.options = options;
        this.vitals = new HeartbeatSender(options);
        this.log = new FailureLog(options);
        this.errors = new ErrorReport(options, log, vitals);
        this.routes = new RouteTable(options, destination);
        this.inFlight = new InFlight(routes);
        this.settler = new Settler(options, inFlight, log, errors, this::onSettled);
        this.delivery = form.delivery(new Delivery.Parts(options, routes, inFlight, settler, errors, this::isStopping));
        this.linger = new SettleLinger((long) options.concurrency() * delivery.runsPerCall());
        this.renewer = new Renewer(options, inFlight, settler, errors, this::forgetPromised);
        this.loop = new PollLoop(
                options, inFlight, routes, log, delivery.runsPerCall(), this::deliver, delivery::finish, vitals);
    }

    /** A poller over this source, still to be given a destination. */
    public static PollerBuilder from(Source source) {
        return new PollerBuilder(source);
    }

    /**
     * Starts polling; does nothing if it is running. Returns at once: a database that is down is waited for.
     *
     * @throws IllegalStateException if it was closed
     */
    public synchronized Poller start() {
        synchronized (threads) {
            if (state.get() == State.RUNNING) {
                return this;
            }
            if (!state.compareAndSet(State.NEW, State.RUNNING)) {
                throw new IllegalStateException("poller " + options.name() + " is closed; build a new one");
            }
            Executor executor = options.executor();
            if (executor == null) {
                executor = ownExecutor = Executors.newFixedThreadPool(options.concurrency(), this::workerThread);
            }
            workers = new Workers(
                    executor, options.concurrency(), delivery, routes, error -> errors.survived("deliver", error));
            vitals.start();
            options.wakeUps().forEach(wakeUp -> subscriptions.add(wakeUp.subscribe(this::wakeUp)));
            startThread("claim", this::claimLoop);
            startThread("settle", this::settleLoop);
            startThread("renew", this::renewLoop);
            startThread("purge", this::purgeLoop);
        }
        LOG.info("poller {} started: {}", options.name(), options.describe());
        delivery.started();
        return this;
    }

    /**
     * Claims one batch, delivers it on this thread and settles it: a poller without threads, for tests and
     * for loops of your own. Leases are not renewed. While its destination accepts nothing it claims only what the
     * destination may be called with now.
     *
     * @return how many items were claimed
     * @throws IllegalStateException if it was started or closed
     */
    public synchronized int pollOnce() {
        if (state.get() != State.NEW) {
            throw new IllegalStateException(
                    "poller " + options.name() + " was started or closed; pollOnce() is for one that is not started");
        }
        try {
            return loop.once();
        } finally {
            do {
                settler.flush();
            } while (!settler.isEmpty() && !settler.waitsForLocks());
        }
    }

    /** Polls now instead of at the end of an idle pause: call it after a commit that enqueued something. */
    public void wakeUp() {
        loop.enqueued();
    }

    /** True from start until close. */
    public boolean isRunning() {
        return state.get() == State.RUNNING;
    }

    /** The poller's name, as stored with the items it processed. */
    public String name() {
        return options.name();
    }

    /**
     * Stops claiming, gives back at once what nobody has begun to deliver (its attempt uncounted), waits for
     * deliveries under way until the drain timeout, then interrupts them and gives those back that return
     * (their attempt stays counted). A delivery that ignores the interrupt keeps its lease until it expires.
     *
     * <p>Idempotent; a second call waits for the first. Called by a destination or a listener it returns at
     * once and closes behind it.
     */
    @Override
    public void close() {
        if (isOwnThread()) {
            new Thread(this::close, "outbox-" + options.name() + "-close").start();
            return;
        }
        if (state.compareAndSet(State.NEW, State.CLOSED)) {
            closed.countDown();
            return;
        }
        boolean first;
        synchronized (threads) { // a start under way is let finish
            first = state.compareAndSet(State.RUNNING, State.STOPPING);
        }
        if (first) {
            try {
                stop();
            } finally {
                state.set(State.CLOSED);
                closed.countDown();
            }
            LOG.info("poller {} stopped", options.name());
            return;
        }
        awaitUninterrupted(closed);
    }

    private void stop() {
        subscriptions.forEach(WakeUp.Subscription::close);
        loop.wake();
        purging.ring();
        join("claim");
        Workers delivering = Require.present("workers", workers);
        delivering.takeQueued().forEach(delivery::finish);
        inFlight.runs().forEach(run -> run.takeBehind().forEach(delivery::finish));
        delivering.forgetPromised(); // they would find nothing to do
        if (!delivering.awaitIdle(options.drainTimeout().toNanos())) {
            inFlight.runs().forEach(run -> run.interrupt(DeliveryCall.Interruption.CLOSING));
            if (!delivering.awaitIdle(GRACE.toNanos())) {
                LOG.warn("poller {}: a delivery ignored its interrupt; its lease will expire", options.name());
            }
        }
        settlerStops = true;
        settlePause.ring();
        restart.ring();
        settler.wake();
        join("settle");
        renewerStops = true;
        renewal.ring();
        join("renew");
        join("purge");
        if (ownExecutor != null) {
            ownExecutor.shutdown();
        }
    }

    /** One that delivers, or one of the poller's own: it would wait for itself. */
    private boolean isOwnThread() {
        Workers delivering = workers;
        if (delivering != null && delivering.isOwnThread()) {
            return true;
        }
        synchronized (threads) {
            return threads.contains(Thread.currentThread());
        }
    }

    private boolean isStopping() {
        State now = state.get();
        return now == State.STOPPING || now == State.CLOSED;
    }

    private void deliver(List<Run> runs) {
        Workers delivering = workers;
        if (isStopping()) {
            runs.forEach(delivery::finish);
        } else if (delivering == null) {
            for (List<Run> left = runs; !left.isEmpty(); ) {
                left = delivery.deliver(left);
            }
        } else {
            try {
                delivering.add(runs);
            } catch (RuntimeException | Error e) {
                delivering.takeQueued().forEach(delivery::finish);
                throw new OutboxException(
                        "the executor of poller " + options.name() + " takes no work; is it shut down?", e, true);
            }
        }
    }

    private void forgetPromised() {
        Workers delivering = workers;
        if (delivering != null) {
            delivering.forgetPromised();
        }
    }

    /** A key has become free, or an item of ours will be due again. */
    private void onSettled(Verdict verdict) {
        vitals.delivered(verdict.delivery());
        if (verdict.settlement().kind() == Settlement.Kind.RETRY) {
            loop.dueIn(verdict.settlement().delay());
        } else if (verdict.run().isKeyed() && verdict.run().isSettled()) {
            if (verdict.settlement().kind() == Settlement.Kind.DONE) {
                loop.freedKey(verdict.run());
            } else {
                loop.wake();
            }
        }
    }

    private void claimLoop() {
        while (!isStopping()) {
            loop.round();
        }
    }

    private void settleLoop() {
        int failures = 0;
        long giveUp = Long.MAX_VALUE;
        while (!settlerStops || !settler.isEmpty()) {
            boolean closing = settlerStops;
            if (closing && giveUp == Long.MAX_VALUE) {
                giveUp = System.nanoTime() + options.drainTimeout().plus(GRACE).toNanos();
            }
            settler.await(Duration.ofSeconds(1).toNanos());
            if (!closing) {
                settler.gather(linger, loop::wantsRoom, () -> settlerStops);
            }
            try {
                settler.flush();
                loop.madeRoom();
                failures = 0;
                if (closing && settler.waitsForLocks() && System.nanoTime() - giveUp >= 0) {
                    LOG.warn("poller {}: rows stayed locked at close; their leases will expire", options.name());
                    return;
                }
            } catch (RuntimeException e) {
                if (closing && System.nanoTime() - giveUp >= 0) {
                    LOG.warn("poller {}: gave up settling at close; the leases will expire", options.name(), e);
                    return;
                }
                pause("settle", e, PollLoop.backoff(failures++));
            }
        }
    }

    private void renewLoop() {
        while (!renewerStops) {
            renewal.await(renewer.period());
            try {
                renewer.renew();
            } catch (RuntimeException e) {
                LOG.warn("poller {}: could not renew leases, trying again", options.name(), e);
                options.emit(() -> new OutboxEvent.PollFailed(options.name(), e, Duration.ofNanos(renewer.period())));
            }
        }
    }

    /** The first purge comes after a random part of the interval, so that nodes do not purge in step. */
    private void purgeLoop() {
        nextBeat = System.nanoTime() + HeartbeatSender.FIRST.toNanos();
        long purge = System.nanoTime() + (long) (options.purgeEvery().toNanos() * Math.random());
        while (!isStopping()) {
            beatIfDue();
            if (System.nanoTime() - purge >= 0) {
                tryPurge();
                purge = System.nanoTime() + options.purgeEvery().toNanos();
            }
            long now = System.nanoTime();
            purging.await(Math.max(0, Math.min(nextBeat - now, purge - now)));
        }
        vitals.end();
        log.close();
    }

    private void beatIfDue() {
        if (System.nanoTime() - nextBeat >= 0) {
            vitals.beat();
            log.tick();
            nextBeat = System.nanoTime() + HeartbeatSender.PERIOD.toNanos();
        }
    }

    private void tryPurge() {
        try {
            purge();
        } catch (RuntimeException e) {
            LOG.warn("poller {}: purge failed, trying again in {}", options.name(), options.purgeEvery(), e);
            options.emit(() -> new OutboxEvent.PollFailed(options.name(), e, options.purgeEvery()));
        }
    }

    private void purge() {
        new Purging(options.ticker(), this::rest).run(this::purgeBatch);
    }

    private int purgeBatch() {
        beatIfDue();
        int removed = options.source().purge();
        if (removed > 0) {
            LOG.debug("poller {}: purged {} items", options.name(), removed);
            options.emit(() -> new OutboxEvent.Purged(removed));
        }
        return removed;
    }

    /** A close ends it. */
    private boolean rest(Duration length) {
        purging.await(length.toNanos());
        return !isStopping();
    }

    private void pause(String what, RuntimeException failure, Duration pause) {
        LOG.warn("poller {}: {} failed, trying again in {}", options.name(), what, pause, failure);
        options.emit(() -> new OutboxEvent.PollFailed(options.name(), failure, pause));
        settlePause.await(pause.toNanos());
    }

    private Thread workerThread(Runnable work) {
        return new Thread(work, "outbox-" + options.name() + "-deliver");
    }

    private void startThread(String role, Runnable body) {
        Thread thread = new Thread(() -> keepRunning(role, body), "outbox-" + options.name() + "-" + role);
        threads.add(thread);
        thread.start();
    }

    /** Whatever it throws, a loop starts again after a pause: only close() ends a poller. */
    private void keepRunning(String role, Runnable body) {
        for (int whileStopping = 0; whileStopping < MOST_RESTARTS_AT_CLOSE; whileStopping += isStopping() ? 1 : 0) {
            try {
                body.run();
                return;
            } catch (Throwable error) {
                errors.survived(role, error);
                restart.await(RESTART.toNanos());
            }
        }
    }

    /** Waits for a thread to end; one that hangs in the database is left behind. */
    private void join(String role) {
        long patience = options.drainTimeout().plus(PATIENCE).toMillis();
        for (Thread thread : threads) {
            if (thread.getName().endsWith("-" + role) && thread != Thread.currentThread()) {
                joinUninterrupted(thread, patience);
                if (thread.isAlive()) {
                    LOG.warn("poller {}: did not wait any longer for thread {}", options.name(), thread.getName());
                }
            }
        }
    }

    private static void joinUninterrupted(Thread thread, long millis) {
        boolean interrupted = false;
        long end = System.nanoTime() + Duration.ofMillis(millis).toNanos();
        long left = millis;
        while (left > 0 && thread.isAlive()) {
            try {
                thread.join(left);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            left = Duration.ofNanos(end - System.nanoTime()).toMillis();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void awaitUninterrupted(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
