package dev.outbox.delivery;

import dev.outbox.event.OutboxEvent;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Renews leases, again and again. */
final class RenewLoop extends PollerThread {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final Renewer renewer;
    private final Signal signal = new Signal();

    RenewLoop(PollerContext context, Renewer renewer) {
        super(context, "renew");
        this.renewer = renewer;
    }

    @Override
    void wake() {
        signal.ring();
    }

    @Override
    void work() {
        while (!isStopped()) {
            signal.await(renewer.period());
            try {
                renewer.renew();
            } catch (RuntimeException e) {
                LOG.warn("poller {}: could not renew leases, trying again", options.name(), e);
                options.emit(() -> new OutboxEvent.PollFailed(options.name(), e, Duration.ofNanos(renewer.period())));
            }
        }
    }
}
