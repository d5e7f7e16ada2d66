package dev.outbox;

import dev.outbox.spi.TransactionalSource;
import java.util.List;

/** Effects and settle in one transaction, per item. */
final class TransactionalDelivery extends Delivery {
    private final TransactionalDestination destination;
    private final TransactionalSource source;

    TransactionalDelivery(TransactionalDestination destination, TransactionalSource source, Parts parts) {
        super(parts);
        this.destination = destination;
        this.source = source;
    }

    @Override
    @SuppressWarnings("CatchingUnchecked") // whatever a handler throws is a verdict
    boolean deliverNext(Run run) {
        WorkItem item = begin(run);
        if (item == null || !mayCallWith(run, item)) {
            return false;
        }
        DeliveryCall call = new DeliveryCall(options.now());
        if (!run.calling(call)) {
            return false;
        }
        boolean opened = false;
        Verdict done = verdicts.done(run, item, call.started());
        boolean fenced;
        try (TransactionalSource.Transaction tx = source.begin()) {
            opened = true;
            destination.deliver(tx.connection(), item);
            done = verdicts.done(run, item, call.started());
            run.settling(item);
            fenced = !source.settle(tx.connection(), List.of(done.settlement())).isEmpty();
            if (!fenced) {
                tx.commit();
            }
        } catch (Throwable failure) {
            run.settling(null);
            return failed(run, item, failure, opened, call);
        }
        call.end();
        run.called(options.now());
        accepted(item, call);
        settler.settled(done, fenced);
        settler.wake(); // whoever waits for room is told by the settling thread
        return !fenced;
    }

    private boolean failed(Run run, WorkItem item, Throwable failure, boolean opened, DeliveryCall call) {
        DeliveryCall.Interruption interruption = call.end();
        run.called(options.now());
        Verdict verdict;
        if (interruption == null && !run.isTakenAway() && isOurs(item, failure, opened)) {
            verdict = verdicts.excused(run, item, failure, routes.of(item).pause(), call.started());
        } else {
            verdict = judge(run, item, Verdicts.outcome(failure), call, interruption, false);
        }
        if (verdict == null) {
            return false;
        }
        settler.add(verdicts.withRest(verdict));
        return verdict.letsItsRunGoOn();
    }

    /**
     * Whether our own connection failed, rather than the handler. One that could not be opened always is ours. One that
     * was lost in the handler's hands may have been killed by the message, so each item is excused once.
     */
    private boolean isOurs(WorkItem item, Throwable failure, boolean opened) {
        if (!opened) {
            return true;
        }
        return Outages.isDatabaseConnection(failure)
                && (routes.of(item).acceptsNothing(item, options.now())
                        || routes.of(item).excuses(item));
    }
}
