package dev.outbox.delivery;

import dev.outbox.OutboxException;
import dev.outbox.WorkItem;
import dev.outbox.spi.TransactionalSource;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Effects and settle in one transaction, per item. */
final class TransactionalDelivery extends OneByOneDelivery {
    private static final Logger LOG = LoggerFactory.getLogger(Poller.class);

    private final TransactionalDestination destination;
    private final TransactionalSource source;

    private enum Step {
        OPEN,
        HANDLE,
        SETTLE,
        COMMIT
    }

    TransactionalDelivery(TransactionalDestination destination, TransactionalSource source, Parts parts) {
        super(parts);
        this.destination = destination;
        this.source = source;
    }

    @Override
    void started() {
        source.replacedIsolation()
                .ifPresent(isolation -> LOG.warn(
                        "poller {}: the pool's isolation is {}, but the transactions of handlers are READ COMMITTED; a handler"
                                + " that needs a stricter level must begin with SET TRANSACTION ISOLATION LEVEL; it is"
                                + " retried when it fails",
                        options.name(),
                        isolation));
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // whatever a handler throws is a verdict
    boolean deliver(Run run, WorkItem item, DeliveryCall call) {
        Step step = Step.OPEN;
        Verdict done = verdicts.done(run, item, call.started());
        boolean fenced;
        try (TransactionalSource.Transaction tx = source.begin()) {
            step = Step.HANDLE;
            destination.deliver(tx.connection(), item);
            done = verdicts.done(run, item, call.started());
            run.settling(item);
            step = Step.SETTLE;
            fenced = !source.settle(tx.connection(), List.of(done.settlement())).isEmpty();
            step = Step.COMMIT;
            if (!fenced) {
                tx.commit();
            }
        } catch (Throwable failure) {
            run.notSettled(item);
            return failed(run, item, failure, step, call);
        }
        call.end();
        settler.ended(done); // at once: whatever fails after the commit must not keep the room
        try {
            run.called(options.now());
            accepted(item, call);
        } finally {
            settler.tell(done, fenced);
            settler.wake(); // the settling thread tells a claim that waits for room
        }
        return !fenced;
    }

    private boolean failed(Run run, WorkItem item, Throwable failure, Step step, DeliveryCall call) {
        call.end();
        run.called(options.now());
        if (call.endedBy() == null && !run.isTakenAway() && isOurs(item, failure, step)) {
            return settle(verdicts.excused(run, item, failure, routes.of(item).pause(), call.started()));
        }
        return settle(judge(run, item, Verdicts.outcome(failure), call, false));
    }

    /**
     * Whether the poller's part failed, rather than the handler. A connection that could not be opened always is the poller's
     * part. The message may have killed a connection that the handler lost, so each item is excused once. A settle that may
     * succeed the next time, because another transaction had locked the row, is not the handler's fault.
     */
    private boolean isOurs(WorkItem item, Throwable failure, Step step) {
        if (step == Step.OPEN) {
            return true;
        }
        if (Outages.isDatabaseConnection(failure)) {
            return routes.of(item).acceptsNothing(item, options.now())
                    || routes.of(item).excuses(item);
        }
        return step == Step.SETTLE && failure instanceof OutboxException settle && settle.isRetryable();
    }
}
