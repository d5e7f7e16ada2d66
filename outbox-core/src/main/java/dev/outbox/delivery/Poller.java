package dev.outbox.delivery;

import dev.outbox.spi.Source;
import dev.outbox.spi.WakeUp;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves items from a source to a destination and settles the outcome.
 *
 * <p>A started poller has four threads: one claims, one settles, one renews leases, and one purges and sends heartbeats. It
 * delivers on further threads of its own or on the given executor. Each of the four uses a connection while it runs a
 * statement, so that none waits for another: at most four at a time, mostly two. A transactional destination uses one more
 * per item under way. Any number of pollers, in one JVM or many, may share a source's table.
 *
 * <p>Only {@link #close()} ends a poller. An exception or {@link Error} of a destination is a failed attempt. An
 * exception or error in one of its own threads, {@link OutOfMemoryError} included, is logged, and reported to listeners
 * and with the heartbeat; the thread continues after a second.
 *
 * <p>Thread-safe: any method may be called from any thread, a destination's included.
 */
public final class Poller implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private enum State {
        NEW,
        RUNNING,
        STOPPING,
        CLOSED
    }

    private final PollerOptions options;
    private final AtomicReference<State> state = new AtomicReference<>(State.NEW);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final List<WakeUp.Subscription> subscriptions = new ArrayList<>();

    /** Held by a start under way, which a close lets finish. */
    private final Object starting = new Object();

    private final PollerContext context;
    private final PollTriggers triggers;
    private final Settler settler;
    private final Delivery delivery;
    private final Dispatcher dispatcher;

    private final PollLoop poll;
    private final SettleLoop settle;
    private final RenewLoop renew;
    private final PurgeLoop purge;

    Poller(PollerOptions options, PollerBuilder.Form form, Object destination) {
        this.options = options;
        this.context = PollerContext.of(options, destination);
        this.triggers = new PollTriggers(options);
        this.settler = new Settler(context, triggers::settled);
        this.delivery = form.delivery(new Delivery.Parts(context, settler, this::isStopping));
        this.dispatcher = new Dispatcher(context, delivery, this::isStopping);
        this.poll = new PollLoop(context, triggers, dispatcher);
        this.settle = new SettleLoop(context, settler, triggers, (long) options.concurrency() * delivery.runsPerCall());
        this.renew = new RenewLoop(context, new Renewer(context, settler, dispatcher));
        this.purge = new PurgeLoop(context);
    }

    /** The builder of a poller over this source; it still needs a destination. */
    public static PollerBuilder from(Source source) {
        return new PollerBuilder(source);
    }

    /**
     * Starts polling; does nothing if the poller is running. Returns at once: if the database is down, the poller waits for
     * it.
     *
     * @throws IllegalStateException if the poller was closed
     */
    public synchronized Poller start() {
        synchronized (starting) {
            if (state.get() == State.RUNNING) {
                return this;
            }
            if (!state.compareAndSet(State.NEW, State.RUNNING)) {
                throw new IllegalStateException("poller " + options.name() + " is closed; build a new one");
            }
            dispatcher.start();
            context.heartbeat().start();
            options.wakeUps().forEach(wakeUp -> subscriptions.add(wakeUp.subscribe(this::wakeUp)));
            threads().forEach(PollerThread::start);
        }
        LOG.info("poller {} started: {}", options.name(), options.describe());
        delivery.started();
        return this;
    }

    private Stream<PollerThread> threads() {
        return Stream.of(poll, settle, renew, purge);
    }

    /**
     * Claims one batch, delivers it on this thread and settles it: a poller without threads, for tests and
     * for loops of your own. Leases are not renewed. While the destination accepts nothing, it claims only the items that the
     * destination may be called with now.
     *
     * @return how many items were claimed
     * @throws IllegalStateException if the poller was started or closed
     */
    public synchronized int pollOnce() {
        if (state.get() != State.NEW) {
            throw new IllegalStateException(
                    "poller " + options.name() + " was started or closed; pollOnce() needs a poller that was not");
        }
        try {
            return poll.once();
        } finally {
            do {
                settler.flush();
            } while (!settler.isEmpty() && !settler.waitsForLocks());
        }
    }

    /** Polls now instead of at the end of an idle pause: call it after a commit that enqueued something. */
    public void wakeUp() {
        triggers.enqueued();
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
     * Stops claiming and at once gives back the items whose delivery has not begun; their attempt is not counted. Waits
     * for deliveries under way until the drain timeout, then interrupts them. If an interrupted delivery returns, its
     * item is given back, and the attempt stays counted. A delivery that ignores the interrupt keeps its lease until it
     * expires.
     *
     * <p>Idempotent; a second call waits for the first. A call by a destination or a listener returns at once, and the poller
     * closes on another thread.
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
        synchronized (starting) {
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
        poll.stop();
        purge.stop();
        subscriptions.forEach(this::end);
        poll.join();
        dispatcher.drain();
        settle.stop();
        settle.join();
        renew.stop();
        renew.join();
        purge.join();
        dispatcher.shutDown();
    }

    private void end(WakeUp.Subscription subscription) {
        try {
            subscription.close();
        } catch (RuntimeException e) {
            LOG.warn("poller {}: a wake-up could not be closed", options.name(), e);
        }
    }

    /** Whether this thread would wait for itself, because it delivers or is one of the poller's own. */
    private boolean isOwnThread() {
        return dispatcher.isOwnThread() || threads().anyMatch(PollerThread::isCurrent);
    }

    private boolean isStopping() {
        State now = state.get();
        return now == State.STOPPING || now == State.CLOSED;
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
