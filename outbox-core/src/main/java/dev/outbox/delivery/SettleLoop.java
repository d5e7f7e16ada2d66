package dev.outbox.delivery;

import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Settles verdicts, again and again. After a stop it settles what is left, as long as the close waits for it. */
final class SettleLoop extends PollerThread {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final Settler settler;
    private final SettleLinger linger;
    private final PollTriggers triggers;
    private final Signal pause = new Signal();

    /** @param atOnce how many items the workers deliver at a time */
    SettleLoop(PollerContext context, Settler settler, PollTriggers triggers, long atOnce) {
        super(context, "settle");
        this.settler = settler;
        this.triggers = triggers;
        this.linger = new SettleLinger(atOnce);
    }

    @Override
    void wake() {
        pause.ring();
        settler.wake();
    }

    @Override
    void work() {
        int failures = 0;
        long giveUp = Long.MAX_VALUE;
        while (!isStopped() || !settler.isEmpty()) {
            boolean closing = isStopped();
            if (closing && giveUp == Long.MAX_VALUE) {
                giveUp = System.nanoTime()
                        + options.drainTimeout().plus(Dispatcher.GRACE).toNanos();
            }
            settler.await(Duration.ofSeconds(1).toNanos());
            if (!closing) {
                settler.gather(linger, triggers::wantsRoom, this::isStopped);
            }
            try {
                settler.flush();
                triggers.madeRoom();
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
                backOff(e, Backoff.after(failures++));
            }
        }
    }

    private void backOff(RuntimeException failure, Duration length) {
        LOG.warn("poller {}: settle failed, trying again in {}", options.name(), length, failure);
        options.emit(() -> new OutboxEvent.PollFailed(options.name(), failure, length));
        pause.await(length.toNanos());
    }
}
