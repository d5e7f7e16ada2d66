package dev.outbox.delivery;

import dev.outbox.OutboxException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands claimed runs to the workers. A poller that is not started has none: then they are delivered on the calling thread.
 * Thread-safe.
 */
final class Dispatcher {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    /** How long a close waits for an interrupted delivery to return, and for a database to come back. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private final PollerContext context;
    private final PollerOptions options;
    private final Delivery delivery;
    private final BooleanSupplier stopping;
    private @Nullable ExecutorService ownExecutor;
    private volatile @Nullable Workers workers;

    Dispatcher(PollerContext context, Delivery delivery, BooleanSupplier stopping) {
        this.context = context;
        this.options = context.options();
        this.delivery = delivery;
        this.stopping = stopping;
    }

    int runsPerCall() {
        return delivery.runsPerCall();
    }

    void start() {
        Executor executor = options.executor();
        if (executor == null) {
            executor = ownExecutor = Executors.newFixedThreadPool(
                    options.concurrency(), work -> new Thread(work, "outbox-" + options.name() + "-deliver"));
        }
        workers = new Workers(executor, context, delivery);
    }

    void deliver(List<Run> runs) {
        Workers delivering = workers;
        if (stopping.getAsBoolean()) {
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
                        "the executor of poller " + options.name() + " accepts no work; is it shut down?", e, true);
            }
        }
    }

    /** Gives back what is left of these runs. */
    void giveBack(List<Run> runs) {
        runs.forEach(delivery::finish);
    }

    /** See {@link Workers#forgetPromised()}. */
    void forgetPromised() {
        Workers delivering = workers;
        if (delivering != null) {
            delivering.forgetPromised();
        }
    }

    /** Whether this thread is one that delivers. */
    boolean isOwnThread() {
        Workers delivering = workers;
        return delivering != null && delivering.isOwnThread();
    }

    /** Gives back what was not begun and waits for deliveries under way, which it interrupts after the drain timeout. */
    void drain() {
        Workers delivering = workers;
        if (delivering == null) {
            return;
        }
        giveBack(delivering.takeQueued());
        context.inFlight().runs().forEach(run -> giveBack(run.takeBehind()));
        delivering.forgetPromised(); // they would find nothing to do
        if (!delivering.awaitIdle(options.drainTimeout().toNanos())) {
            context.inFlight().runs().forEach(run -> run.interrupt(DeliveryCall.Interruption.CLOSING));
            if (!delivering.awaitIdle(GRACE.toNanos())) {
                LOG.warn("poller {}: a delivery ignored its interrupt; its lease will expire", options.name());
            }
        }
    }

    void shutDown() {
        if (ownExecutor != null) {
            ownExecutor.shutdown();
        }
    }
}
