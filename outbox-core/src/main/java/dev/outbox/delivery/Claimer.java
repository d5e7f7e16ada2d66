package dev.outbox.delivery;

import dev.outbox.WorkItem;
import dev.outbox.event.OutboxEvent;
import dev.outbox.spi.Claim;
import dev.outbox.spi.ClaimRequest;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Makes one claim, hands over what came and tells of it. */
final class Claimer {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final PollerContext context;
    private final PollerOptions options;
    private final PollTriggers triggers;
    private final Dispatcher dispatcher;
    private int failures;

    Claimer(PollerContext context, PollTriggers triggers, Dispatcher dispatcher) {
        this.context = context;
        this.options = context.options();
        this.triggers = triggers;
        this.dispatcher = dispatcher;
    }

    /** Claims, and delivers everything. */
    Claim claim(ClaimRequest request) {
        return claim(request, UnaryOperator.identity());
    }

    /** @param chosen those of the claimed runs that are delivered */
    Claim claim(ClaimRequest request, UnaryOperator<List<Run>> chosen) {
        long start = options.now();
        long number = triggers.nextClaim();
        Claim claim = options.source().claim(request);
        options.emit(() -> new OutboxEvent.Polled(options.name(), claim.items().size(), since(start)));
        if (!claim.items().isEmpty()) {
            List<Run> runs = context.inFlight()
                    .add(new TimedClaim(
                            claim, number, start, start + options.lease().toNanos()));
            LOG.debug(
                    "poller {}: claimed {} items in {} runs",
                    options.name(),
                    claim.items().size(),
                    runs.size());
            options.emit(() -> new OutboxEvent.Claimed(options.name(), claim.items(), since(start)));
            dispatcher.deliver(chosen.apply(runs));
        }
        for (WorkItem dead : claim.dead()) {
            String error = "given up at claim: its lease expired on the last attempt, or it cannot be read";
            context.log().dead(dead, error, null);
            options.emit(() -> new OutboxEvent.Dead(options.name(), dead, error));
        }
        claim.reclaimed().forEach(context.log()::reclaimed);
        failures = 0;
        context.heartbeat().claimed();
        return claim;
    }

    private Duration since(long start) {
        return Duration.ofNanos(options.now() - start);
    }

    /** A claim has failed. @return how long to wait before the next one */
    Duration failed(RuntimeException failure) {
        context.heartbeat().claimFailed();
        Duration pause = Backoff.after(failures++);
        LOG.warn("poller {}: poll failed, trying again in {}", options.name(), pause, failure);
        options.emit(() -> new OutboxEvent.PollFailed(options.name(), failure, pause));
        return pause;
    }
}
