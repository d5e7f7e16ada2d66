package dev.outbox.delivery;

import dev.outbox.delivery.internal.Purging;
import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Purges items past their retention and, also between the batches of a purge, sends the heartbeat. */
final class PurgeLoop extends PollerThread {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final HeartbeatSender heartbeat;
    private final FailureLog log;
    private final Signal signal = new Signal();
    private long nextBeat;

    PurgeLoop(PollerContext context) {
        super(context, "purge");
        this.heartbeat = context.heartbeat();
        this.log = context.log();
    }

    @Override
    void wake() {
        signal.ring();
    }

    /** The first purge comes after a random part of the interval, so that nodes do not purge in step. */
    @Override
    void work() {
        nextBeat = System.nanoTime() + HeartbeatSender.FIRST.toNanos();
        long purge = System.nanoTime() + (long) (options.purgeEvery().toNanos() * Math.random());
        while (!isStopped()) {
            beatIfDue();
            if (System.nanoTime() - purge >= 0) {
                tryPurge();
                purge = System.nanoTime() + options.purgeEvery().toNanos();
            }
            long now = System.nanoTime();
            signal.await(Math.max(0, Math.min(nextBeat - now, purge - now)));
        }
        heartbeat.end();
        log.close();
    }

    private void beatIfDue() {
        if (System.nanoTime() - nextBeat >= 0) {
            heartbeat.beat();
            log.tick();
            nextBeat = System.nanoTime() + HeartbeatSender.PERIOD.toNanos();
        }
    }

    private void tryPurge() {
        try {
            new Purging(options.ticker(), this::rest).run(this::purgeBatch);
        } catch (RuntimeException e) {
            LOG.warn("poller {}: purge failed, trying again in {}", options.name(), options.purgeEvery(), e);
            options.emit(() -> new OutboxEvent.PollFailed(options.name(), e, options.purgeEvery()));
        }
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

    /** @return whether to go on: a close ends the purge */
    private boolean rest(Duration length) {
        signal.await(length.toNanos());
        return !isStopped();
    }
}
